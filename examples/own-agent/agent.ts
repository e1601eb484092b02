// A template for a speech service that `outdial/agents` doesn't know: what it is sent, and what its
// messages mean. Nothing here connects, waits or plays: `connectAgent` does.
import type { Agent, AgentEvent, Codec, Frame, Line } from "outdial/agents";

const frame = (message: object): Frame => JSON.stringify(message);

const codec = ({ sample_rate }: Line): Codec => {
  const format = { encoding: "pcm", sample_rate } as const; // Or what it takes: it is converted.
  let turn = ""; // What is late of an answer that was cut off has its name, and is dropped.
  return {
    formats: { hears: format, speaks: format },
    open: () => [frame({ type: "configure", sample_rate })],
    answered: () => [frame({ type: "begin" })],
    hear: (audio) => [audio],
    interrupted: (cuts) => cuts.map(({ item, heard }) => frame({ type: "cut", item, ms: heard })),
    toolResult: ({ id, output }) => [frame({ type: "result", id, output })],
    read: (received): readonly AgentEvent[] => {
      if (typeof received !== "string") return [{ type: "audio", audio: received, turn }];
      const { type, id, name, args, text } = JSON.parse(received);
      if (type === "answer") turn = id;
      const meanings: Readonly<Record<string, AgentEvent>> = {
        configured: { type: "ready" },
        speech: { type: "interrupted" },
        answer: { type: "turn", turn },
        said: { type: "done", turn },
        text: { type: "transcript", who: "agent", text, final: true },
        tool: { type: "tool", id, name, arguments: args },
      };
      const meaning = meanings[type];
      return meaning ? [meaning] : [];
    },
  };
};

/** The service at this URL, which takes a key in a header. */
export const ownAgent = (url: string, key: string): Agent => ({
  name: "own",
  address: () => ({ url, headers: { Authorization: `Bearer ${key}` }, protocols: ["key", key] }),
  codec,
});
