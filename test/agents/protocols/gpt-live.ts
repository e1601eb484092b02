import type { ClientEvent, ServerEvent, SessionResource } from "openai/resources/live/live";
import { base64, type Coding, decoded, level, pcm, ulaw } from "../../conformance/models/sound.ts";
import { type Behaviour, levelOf, Model } from "../model.ts";
import { type AgentServer, type Peer, type Received, serveAgent } from "../server.ts";

/** How often its track goes on, in ms. */
const every = 40;

/** An agent that speaks OpenAI's GPT-Live protocol: its track never stops, silence included. */
export const serveGptLive = (behaviour: Behaviour = {}): Promise<AgentServer> => {
  const sessions = new WeakMap<Peer, (event: ClientEvent) => void>();
  return serveAgent({
    accept: (peer: Peer, message?: Received) => {
      const session = sessions.get(peer) ?? converse(peer, behaviour);
      sessions.set(peer, session);
      if (message) session(message as unknown as ClientEvent);
    },
  });
};

const converse = (peer: Peer, behaviour: Behaviour) => {
  let coding: Coding = pcm(16_000);
  let track: ReturnType<typeof setInterval> | undefined;
  let session: SessionResource | undefined;
  /** What it is about to say, in pieces of the track's length, and the tools that it asks for once it has said so much. */
  let words: (number | (() => void))[] = [];
  const send = (event: ServerEvent) => peer.send(event);
  const model = new Model(
    {
      begin: () => {},
      audio: (answer, ms) => words.push(...Array(Math.round(ms / every)).fill(levelOf(answer))),
      tool: (_, call_id, name, args) =>
        words.push(() =>
          send({
            type: "response.event",
            event_id: "event",
            event: {
              type: "response.output_item.done",
              item: { type: "function_call", call_id, name, arguments: JSON.stringify(args) },
            },
          }),
        ),
      done: () => {},
      heard: () => {
        words = []; // It yields by itself.
      },
    },
    { ...behaviour, late: 0, delta: every, pace: 100 },
  );
  const stop = () => {
    clearInterval(track);
    model.stop();
  };
  peer.socket.on("close", stop);
  const speak = () => {
    let word = words.shift() ?? 0;
    for (; typeof word === "function"; word = words.shift() ?? 0) word();
    const samples = level(word, every, coding.rate);
    send({ type: "session.output_audio.delta", delta: base64(coding.write(samples)) });
  };
  return (event: ClientEvent): void => {
    if (event.type === "session.start") {
      const { model: name, audio } = event.session;
      coding = audio?.format?.type === "audio/pcmu" ? ulaw : pcm(16_000);
      session = { id: "live_1", expires_at: 0, model: name, status: "active" };
      send({ type: "session.started", event_id: "event", session });
      track = setInterval(speak, every);
      model.answer();
    }
    if (event.type === "session.input_audio.append") {
      const samples = coding.read(decoded(event.audio));
      model.hear(samples, (samples.length / coding.rate) * 1000);
    }
    if (event.type === "response.create") model.answer();
    if (event.type === "session.close" && session) {
      stop();
      const usage = { seconds: 1 };
      const reason = "close_requested";
      send({ type: "session.closed", event_id: "event", reason, session, usage });
      peer.socket.close(1000);
    }
  };
};
