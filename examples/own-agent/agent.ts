// A template for a speech service that `outdial/agents` has no adapter for: its messages, both ways. Nothing here
// connects, waits or plays: `connectAgent` does.
import type { Agent, AgentEvent, AgentMessage, Codec, LineFormat } from "outdial/agents";

const toMessage = (message: object): AgentMessage => JSON.stringify(message);

const codec = ({ sampleRate }: LineFormat): Codec => {
  const format = { encoding: "pcm", sampleRate } as const; // Or what it takes: it is converted.
  let response = ""; // Late audio of a response that was cut off has its name, and is dropped.
  return {
    formats: { input: format, output: format },
    open: () => [toMessage({ type: "configure", sample_rate: sampleRate })],
    answered: () => [toMessage({ type: "begin" })],
    encode: (audio) => [audio],
    interrupted: (cuts) =>
      cuts.map(({ item, played }) => toMessage({ type: "cut", item, ms: played })),
    toolResult: ({ id, output }) => [toMessage({ type: "result", id, output })],
    decode: (received): readonly AgentEvent[] => {
      if (typeof received !== "string") return [{ type: "audio", audio: received, response }];
      const { type, id, name, args, text } = JSON.parse(received);
      if (type === "answer") response = id;
      const events: Readonly<Record<string, AgentEvent>> = {
        configured: { type: "ready" },
        speech: { type: "interrupted" },
        answer: { type: "response_started", response },
        said: { type: "response_done", response },
        text: { type: "transcript", who: "agent", text, final: true },
        tool: { type: "tool", id, name, arguments: args },
      };
      const event = events[type];
      return event ? [event] : [];
    },
  };
};

/** The service at this URL, which takes a key in a header. */
export const ownAgent = (url: string, key: string): Agent => ({
  name: "own",
  address: () => ({ url, headers: { Authorization: `Bearer ${key}` }, protocols: ["key", key] }),
  codec,
});
