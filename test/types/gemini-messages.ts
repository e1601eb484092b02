/**
 * What the compiler says of Gemini's messages: `tsc` fails where an expected error is missing. So these types, in
 * `test/unit/agents/adapters/gemini.test.ts`, would find a wrong name, a wrong value and a wrong type.
 */
import type { LiveClientMessage, LiveServerMessage } from "@google/genai";

/** Values of the vendor's enums are texts on the wire. */
type Wire<T> = T extends string
  ? `${T}`
  : T extends (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Name in keyof T]: Wire<T[Name]> }
      : T;

/** Messages to Gemini, as they are on the wire. */
export type GeminiMessages = readonly Wire<LiveClientMessage>[];

/** A message of Gemini, as it is on the wire: `text` and `data` are getters of the vendor's class. */
export type GeminiMessage = Partial<Wire<Omit<LiveServerMessage, "text" | "data">>>;

export const sent: GeminiMessages = [
  // @ts-expect-error There is no such message.
  { sessionUpdate: {} },
  // @ts-expect-error It is `realtimeInput.audio`.
  { realtimeInput: { chunk: { data: "AQID" } } },
  // @ts-expect-error A modality is one of the vendor's.
  { setup: { generationConfig: { responseModalities: ["VOICE"] } } },
  // @ts-expect-error There is no such schedule.
  { toolResponse: { functionResponses: [{ id: "c1", name: "look", scheduling: "NEVER" }] } },
];

export const received: readonly GeminiMessage[] = [
  // @ts-expect-error The time that is left is a text.
  { goAway: { timeLeft: 50 } },
];
