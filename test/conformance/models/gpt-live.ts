import type { ClientEvent, ServerEvent, SessionResource } from "openai/resources/live/live";
import { Model, type Protocol } from "./model.ts";
import { base64, type Coding, decoded, level, pcm, ulaw } from "./sound.ts";

/** OpenAI's GPT-Live protocol: its track never stops, silence included. */
export const gptLive: Protocol = (post, clock, behaviour, end) => {
  const { delta: every = 100, speaksFirst } = behaviour;
  const event_id = "event";
  let coding: Coding = ulaw;
  let session: SessionResource | undefined;
  /** What it is about to say, in pieces of the track's length. */
  let words: Uint8Array<ArrayBuffer>[] = [];
  let cancel = () => {};
  const send = (event: ServerEvent) => post(event);
  const model = new Model(
    {
      coding: () => coding,
      begin: () =>
        send({ type: "session.output_transcript.delta", event_id, delta: "…" } as ServerEvent),
      audio: (_, bytes) => words.push(bytes),
      tools: (calls, answer) => {
        const delegation_id = `d${answer}`;
        for (const { id, name, args } of calls) {
          const item = { call_id: id, name, arguments: JSON.stringify(args) };
          const event = {
            ...{ type: "response.output_item.done", item: { type: "function_call", ...item } },
          };
          send({ type: "response.event", event_id, delegation_id, event } as ServerEvent);
        }
        const event = { type: "response.completed" };
        send({ type: "response.event", event_id, delegation_id, event } as ServerEvent);
      },
      done: () => {},
      speech: () => {
        words = []; // It yields by itself.
        send({ type: "session.input_transcript.delta", event_id, delta: "…" } as ServerEvent);
      },
      speechStopped: () => {},
    },
    clock,
    { ...behaviour, late: 0 },
  );
  const speakFrom = (at: number) => {
    const delta = base64(words.shift() ?? coding.write(level(0, every, coding.rate)));
    send({ type: "session.output_audio.delta", delta });
    // By when it is due: timers that are late don't slow it down.
    const next = at + every;
    cancel = clock.after(next - clock.now(), () => speakFrom(next));
  };
  const stop = () => {
    cancel();
    model.stop();
  };
  return {
    model,
    receive: (received) => {
      const event = received as ClientEvent;
      if (event.type === "session.start") {
        const { model: name, audio } = event.session;
        coding = audio?.format?.type === "audio/pcmu" ? ulaw : pcm(16_000);
        session = { id: "live_1", expires_at: 0, model: name, status: "active" };
        send({ type: "session.started", event_id, session });
        speakFrom(clock.now());
        if (speaksFirst) model.answer();
      } else if (event.type === "session.input_audio.append") model.hear(decoded(event.audio));
      else if (event.type === "session.commentary.append") model.answer();
      else if (event.type === "response.create") {
        if (!model.isMaking) model.answer();
      } else if (event.type === "session.close" && session) {
        stop();
        const [usage, reason] = [{ seconds: 1 }, "close_requested"] as const;
        send({ type: "session.closed", event_id, reason, session, usage });
        end();
      }
    },
    stop,
  };
};
