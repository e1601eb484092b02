/**
 * What the compiler says of messages to Gemini: `tsc` fails where an expected error is missing. So `GeminiMessages`, in
 * `test/unit/agents/adapters/gemini.test.ts`, would find a wrong name, a wrong value and a wrong type.
 */
import type {
  FunctionResponse,
  FunctionResponseScheduling,
  LiveClientMessage,
  LiveServerMessage,
  Modality,
} from "@google/genai";

/** Values of the vendor's enums, as they are on the wire. */
type Wire<T> = T extends Modality | FunctionResponseScheduling
  ? `${T}`
  : T extends (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Name in keyof T]: Wire<T[Name]> }
      : T;

/** Messages to Gemini, as they are on the wire. */
export type GeminiMessages = readonly Wire<LiveClientMessage>[];

export const sent: GeminiMessages = [
  {
    setup: {
      model: "models/gemini-3.8-live",
      generationConfig: {
        responseModalities: ["AUDIO"],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
      },
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "look", description: "Looks.", parametersJsonSchema: { type: "object" } },
          ],
        },
      ],
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      contextWindowCompression: { slidingWindow: {} },
    },
  },
  { realtimeInput: { text: "(The call was answered. Begin.)" } },
  { realtimeInput: { audio: { data: "AQID", mimeType: "audio/pcm;rate=16000" } } },
  {
    clientContent: {
      turns: [{ role: "user", parts: [{ text: "It is 5." }] }],
      turnComplete: false,
    },
  },
  { contextUpdate: { systemInstruction: { parts: [{ text: "Be kind." }] } } },
  // @ts-expect-error There is no such message.
  { sessionUpdate: {} },
  // @ts-expect-error It is `realtimeInput.audio`.
  { realtimeInput: { chunk: { data: "AQID" } } },
  // @ts-expect-error A modality is one of the vendor's.
  { setup: { generationConfig: { responseModalities: ["VOICE"] } } },
];

const response: Wire<FunctionResponse> = {
  id: "c1",
  name: "look",
  response: { output: "yes" },
  scheduling: "SILENT",
};
// @ts-expect-error There is no such schedule.
export const wrong: Wire<FunctionResponse> = { ...response, scheduling: "NEVER" };
export const responses: Wire<LiveClientMessage> = {
  toolResponse: { functionResponses: [response] },
};

type Received = Partial<Wire<Omit<LiveServerMessage, "text" | "data">>>;
export const received: readonly Received[] = [
  { setupComplete: {} },
  { serverContent: { modelTurn: { parts: [{ inlineData: { data: "AQID" } }] } } },
  { serverContent: { inputTranscription: { text: "Hel" } } },
  { serverContent: { outputTranscription: { text: "Good " } } },
  { serverContent: { interrupted: true } },
  { serverContent: { generationComplete: true } },
  { serverContent: { turnComplete: true, waitingForInput: true } },
  { toolCall: { functionCalls: [{ id: "c1", name: "look", args: { id: 7 } }] } },
  { toolCallCancellation: { ids: ["c1"] } },
  { goAway: { timeLeft: "50s" } },
  { usageMetadata: { totalTokenCount: 12 } },
  // @ts-expect-error The time that is left is a text.
  { goAway: { timeLeft: 50 } },
];
