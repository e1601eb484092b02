import type { RealtimeClientEvent, RealtimeServerEvent } from "openai/resources/realtime/realtime";
import type { Metadata } from "openai/resources/shared";
import { base64, type Coding, decoded, level, pcm, ulaw } from "../../conformance/models/sound.ts";
import { type Behaviour, levelOf, Model } from "../model.ts";
import { type AgentServer, type Peer, type Received, serveAgent } from "../server.ts";

/** An agent that speaks OpenAI's Realtime protocol; it may behave by how many connections there were before. */
export const serveOpenai = (
  behaviour: Behaviour | ((count: number) => Behaviour) = {},
): Promise<AgentServer> => {
  let count = 0;
  const behave = () => (typeof behaviour === "function" ? behaviour(count++) : behaviour);
  const sessions = new WeakMap<Peer, Conversation>();
  return serveAgent({
    protocol: "realtime",
    accept: (peer: Peer, message?: Received) => {
      const session = sessions.get(peer) ?? converse(peer.send, behave());
      if (!sessions.has(peer)) peer.socket.on("close", session.stop);
      sessions.set(peer, session);
      if (message) session.receive(message as unknown as RealtimeClientEvent);
    },
  });
};

/** A conversation, on a socket of any kind. */
export interface Conversation {
  readonly receive: (event: RealtimeClientEvent) => void;
  readonly stop: () => void;
}

export const converse = (
  send: (event: RealtimeServerEvent) => void,
  behaviour: Behaviour,
): Conversation => {
  let coding: Coding = pcm(24_000);
  let events = 0;
  /** What the response that is asked for is asked for with: it comes back. */
  let metadata: Metadata | null = null;
  const event_id = () => `event_${++events}`;
  const ids = (answer: number) => ({
    response_id: `resp_${answer}`,
    item_id: `item_${answer}`,
    output_index: 0,
    content_index: 0,
  });
  const model = new Model(
    {
      begin: (answer) => {
        const response = { id: `resp_${answer}`, status: "in_progress", metadata } as const;
        send({ type: "response.created", event_id: event_id(), response });
        metadata = null;
      },
      audio: (answer, ms) =>
        send({
          type: "response.output_audio.delta",
          event_id: event_id(),
          ...ids(answer),
          delta: base64(coding.write(level(levelOf(answer), ms, coding.rate))),
        }),
      tool: (answer, call_id, name, args) =>
        send({
          type: "response.output_item.done",
          event_id: event_id(),
          response_id: `resp_${answer}`,
          output_index: 1,
          item: {
            type: "function_call",
            id: `item_${call_id}`,
            call_id,
            name,
            arguments: JSON.stringify(args),
            status: "completed",
          },
        }),
      done: (answer, wasCut) => {
        send({ type: "response.output_audio.done", event_id: event_id(), ...ids(answer) });
        send({
          type: "response.done",
          event_id: event_id(),
          response: { id: `resp_${answer}`, status: wasCut ? "cancelled" : "completed" },
        });
      },
      heard: () =>
        send({
          type: "input_audio_buffer.speech_started",
          event_id: event_id(),
          item_id: "item_callee",
          audio_start_ms: 0,
        }),
    },
    behaviour,
  );
  send({ type: "session.created", event_id: event_id(), session: { type: "realtime" } });
  const receive = (event: RealtimeClientEvent): void => {
    if (event.type === "session.update") {
      const { session } = event;
      const format = session.audio?.input?.format?.type; // What an update leaves out stays.
      if (format) coding = format === "audio/pcmu" ? ulaw : pcm(24_000);
      send({ type: "session.updated", event_id: event_id(), session });
    }
    if (event.type === "response.create") {
      metadata = event.response?.metadata ?? null;
      model.answer();
    }
    if (event.type === "input_audio_buffer.append") {
      const samples = coding.read(decoded(event.audio));
      model.hear(samples, (samples.length / coding.rate) * 1000);
    }
  };
  return { receive, stop: () => model.stop() };
};
