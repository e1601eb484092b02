import { type Agent, deepgram, elevenlabs, gptLive, openaiRealtime } from "outdial/agents";
import type { Speech } from "./config.ts";

/**
 * What every agent is told first: that a machine speaks, and whether it is recorded, must be said at once.
 * What comes after it is yours (`AGENT_INSTRUCTIONS`).
 */
export const introduction = (record: boolean): string =>
  `Hello, I am a machine. This call is ${record ? "" : "not "}being recorded.`;

const instructionsOf = ({ instructions, record }: Speech): string =>
  `You are on a telephone call that you have placed. Say at once, word for word: "${introduction(record)}" ` +
  `Answer in one or two short sentences. Say goodbye and hang up when it is said. ${instructions}`;

const kinds: Readonly<Record<Speech["kind"], (speech: Speech) => Agent>> = {
  openai: (speech) => openaiRealtime({ ...speech, instructions: instructionsOf(speech) }),
  "gpt-live": (speech) => gptLive({ ...speech, instructions: instructionsOf(speech) }),
  // Its instructions and its voice are set at the service; its first message must be allowed there.
  elevenlabs: (speech) => elevenlabs({ ...speech, greeting: introduction(speech.record) }),
  deepgram: (speech) =>
    deepgram({
      ...speech,
      instructions: instructionsOf(speech),
      greeting: introduction(speech.record),
    }),
};

/** The speech agent that the configuration asks for. */
export const speechAgent = (speech: Speech): Agent => kinds[speech.kind](speech);
