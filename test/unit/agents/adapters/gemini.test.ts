import { expect, test } from "vitest";
import { type GeminiOptions, gemini } from "../../../../src/agents/adapters/gemini.ts";
import type { AgentMessage } from "../../../../src/agents/agent.ts";
import type { GeminiMessage, GeminiMessages } from "../../../types/gemini-messages.ts";

const apiKey = "AIza-MARKED";
const codecOf = (options: Partial<GeminiOptions> = {}) => {
  const codec = gemini({ apiKey, ...options }).codec({ sampleRate: 8000 });
  const read = (message: GeminiMessage) => codec.decode(JSON.stringify(message));
  const content = (serverContent: Required<GeminiMessage>["serverContent"]) =>
    read({ serverContent });
  return { codec, read, content };
};
const sent = (messages: readonly AgentMessage[]) =>
  messages.map((message) => JSON.parse(String(message)));

const audio = { modelTurn: { parts: [{ inlineData: { data: "AQID" } }] } };
const started = (response: string) => ({ type: "response_started", response });
const done = (response: string, outcome = {}) => ({ type: "response_done", response, ...outcome });
const heard = (name: string) => ({
  type: "audio",
  audio: new Uint8Array([1, 2, 3]),
  item: name,
  response: name,
});

test("the key is in a header alone, and nothing is offered to a runtime without headers", async () => {
  const { url, headers, protocols } = await gemini({ apiKey }).address();
  expect(url).toMatch(/^wss:\/\/generativelanguage\.googleapis\.com\/[\w./]+BidiGenerateContent$/);
  expect(headers).toEqual({ "x-goog-api-key": apiKey });
  expect(protocols).toBeUndefined(); // Then `openSocket` refuses: needs_headers.
});

test("the first message has the settings, both transcriptions and no end after 15 minutes", () => {
  const tools = {
    look: { description: "Looks.", parameters: { type: "object" }, run: () => "" },
  };
  const { codec } = codecOf({ instructions: "Be brief.", voice: "Kore", tools });
  expect(codec.formats).toEqual({
    input: { encoding: "pcm", sampleRate: 16_000 },
    output: { encoding: "pcm", sampleRate: 24_000 },
  });
  expect(sent(codec.open())).toEqual<GeminiMessages>([
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
              expect.objectContaining({ name: "hang_up" }),
            ],
          },
        ],
        inputAudioTranscription: {},
        outputAudioTranscription: {},
        contextWindowCompression: { slidingWindow: {} },
      },
    },
  ]);
  const [{ setup }] = sent(codecOf({ model: "tunedModels/mine" }).codec.open());
  expect(setup.model).toBe("tunedModels/mine");
});

test("it begins once it is set up and the callee is there, by text in real time; or not at all", () => {
  const first = { realtimeInput: { text: "(The call was answered. Begin with: Hello!)" } };
  const late = codecOf({ greeting: "Hello!" });
  expect(late.codec.answered()).toEqual([]);
  const [ready, send] = late.read({ setupComplete: {} });
  expect(ready).toEqual({ type: "ready" });
  expect(send?.type === "send" && sent(send.messages)).toEqual([first]);
  const warm = codecOf({ greeting: "Hello!" });
  expect(warm.read({ setupComplete: {} })).toEqual([{ type: "ready" }]);
  expect(sent(warm.codec.answered())).toEqual<GeminiMessages>([first]);
  const { codec, read } = codecOf({ greeting: false });
  expect(read({ setupComplete: {} })).toEqual([{ type: "ready", begins: "callee" }]);
  expect(codec.answered()).toEqual([]);
});

test("audio goes out as 16 kHz; JSON is read out of binary messages, too", () => {
  const { codec } = codecOf();
  expect(sent(codec.encode(new Uint8Array([1, 2, 3])))).toEqual<GeminiMessages>([
    { realtimeInput: { audio: { data: "AQID", mimeType: "audio/pcm;rate=16000" } } },
  ]);
  const bytes = new TextEncoder().encode(JSON.stringify({ serverContent: audio }));
  expect(codec.decode(bytes)).toEqual([started("1"), heard("1")]);
  expect(() => codec.decode(new Uint8Array([255]))).toThrow("malformed");
});

test("a turn has one end, though its generation and its playback both have one", () => {
  const { content } = codecOf();
  expect(content(audio)).toEqual([started("1"), heard("1")]);
  expect(content(audio)).toEqual([heard("1")]);
  expect(content({ generationComplete: true })).toEqual([done("1")]);
  expect(content({ turnComplete: true })).toEqual([]);
  expect(content({ ...audio, turnComplete: true })).toEqual([started("2"), heard("2"), done("2")]);
});

test("texts come in pieces: the callee's is whole when the model begins, the model's at the end", () => {
  const { content } = codecOf();
  const callee = (text: string, final: boolean) => ({
    type: "transcript",
    who: "callee",
    text,
    final,
  });
  const agent = (text: string, final: boolean) => ({
    ...{ type: "transcript", who: "agent", text, final },
    ...{ item: "1", response: "1" },
  });
  expect(content({ inputTranscription: { text: "Hel" } })).toEqual([callee("Hel", false)]);
  expect(content({ inputTranscription: { text: "lo?" } })).toEqual([callee("lo?", false)]);
  expect(content(audio)).toEqual([callee("Hello?", true), started("1"), heard("1")]);
  expect(content({ outputTranscription: { text: "Good " } })).toEqual([agent("Good ", false)]);
  expect(content({ generationComplete: true })).toEqual([done("1")]);
  expect(content({ outputTranscription: { text: "day." } })).toEqual([agent("day.", false)]);
  expect(content({ turnComplete: true })).toEqual([agent("Good day.", true)]);
});

test("an interruption is reported once a turn; late audio has the name of what was cut off", () => {
  const { content, codec } = codecOf();
  content({ ...audio, outputTranscription: { text: "Good day." } });
  expect(content({ interrupted: true }).map(({ type }) => type)).toEqual([
    "transcript",
    "interrupted",
  ]);
  expect(content({ interrupted: true })).toEqual([]);
  expect(content(audio)).toEqual([heard("1")]);
  expect(content({ turnComplete: true })).toEqual([done("1", { outcome: "cancelled" })]);
  expect(codec.interrupted([{ item: "1", played: 10, duration: 20 }])).toEqual([]);
  // Its turn was complete, but not played: it is silenced all the same, and the next turn is whole.
  content({ ...audio, turnComplete: true });
  expect(content({ interrupted: true })).toEqual([{ type: "interrupted" }]);
  expect(content({ turnComplete: true })).toEqual([]);
  expect(content(audio).at(0)).toEqual(started("4"));
});

test("a turn that has failed is reported with its reason; an empty one isn't what was awaited", () => {
  const { content } = codecOf();
  expect(content({ turnComplete: true, turnCompleteReason: "MALFORMED_FUNCTION_CALL" })).toEqual([
    started("1"),
    done("1", { outcome: "failed" }),
    { type: "error", code: "MALFORMED_FUNCTION_CALL" },
  ]);
  expect(content({ turnComplete: true })).toEqual([started("2"), done("2")]);
  // It waits for more of the callee's.
  expect(content({ turnComplete: true, waitingForInput: true })).toEqual([done("3")]);
  expect(content({ turnComplete: true, turnCompleteReason: "NEED_MORE_INPUT" })).toEqual([
    done("4"),
  ]);
});

test("tools are called, cancelled and answered; what follows a result is a response of its own", () => {
  const { codec, read, content } = codecOf();
  const calls = [
    { id: "c1", name: "look", args: { id: 7 } },
    { id: "c2", name: "hang_up" },
  ];
  expect(read({ toolCall: { functionCalls: calls } })).toEqual([
    started("1"),
    { type: "tool", id: "c1", name: "look", arguments: { id: 7 }, response: "1" },
    { type: "tool", id: "c2", name: "hang_up", arguments: {}, response: "1" },
    done("1"),
  ]);
  expect(content({ generationComplete: true })).toEqual([]);
  expect(read({ toolCallCancellation: { ids: ["c1"] } })).toEqual([
    { type: "tool_cancelled", id: "c1" },
  ]);
  const result = { id: "c1", name: "look", output: "yes", isError: false, reply: true };
  expect(sent(codec.toolResult(result))).toEqual<GeminiMessages>([
    {
      toolResponse: {
        functionResponses: [{ id: "c1", name: "look", response: { output: "yes" } }],
      },
    },
  ]);
  expect(
    sent(codec.toolResult({ ...result, isError: true, reply: false })),
  ).toEqual<GeminiMessages>([
    {
      toolResponse: {
        functionResponses: [
          { id: "c1", name: "look", response: { error: "yes" }, scheduling: "SILENT" },
        ],
      },
    },
  ]);
  expect(content(audio)).toEqual([started("2"), heard("2")]);
});

test("a turn that stays open at a tool call goes on as another response; a text that interrupts it is no callee", () => {
  const { codec, read, content } = codecOf();
  const toolCallOf = (id: string) => ({ functionCalls: [{ id, name: "look" }] });
  content(audio);
  expect(read({ toolCall: toolCallOf("c1") }).at(-1)).toEqual(done("1"));
  expect(codec.addContext?.("It is 5.")).toEqual([]);
  expect(content(audio)).toEqual([started("2"), heard("2")]);
  expect(read({ toolCall: toolCallOf("c2") }).at(-1)).toEqual(done("2"));
  codec.reply?.("Say it.", "r");
  expect(content({ interrupted: true })).toEqual([]);
  expect(content({ turnComplete: true }).map(({ type }) => type)).toEqual(["send"]);
  expect(content(audio)).toEqual([started("3"), heard("3")]);
  expect(content({ interrupted: true })).toEqual([{ type: "interrupted" }]);
});

test("a call that the service repeats, at once or in a later turn, is no other one; without an id each is", () => {
  const { read, content } = codecOf();
  const callOf = (id: string, args = {}) =>
    read({ toolCall: { functionCalls: [{ id, name: "book", args }] } }).map(({ type }) => type);
  const call = ["response_started", "tool", "response_done"];
  expect(callOf("c1")).toEqual(call);
  expect(callOf("c1")).toEqual([]);
  content({ turnComplete: true });
  expect(callOf("c1")).toEqual([]);
  expect(callOf("c1", { day: 2 })).toEqual(call);
  expect([callOf(""), callOf("")]).toEqual([call, call]);
});

test("the service goes away: its own limit", () => {
  expect(codecOf().read({ goAway: { timeLeft: "50s" } })).toEqual([
    { type: "end", reason: "session_limit" },
  ]);
});

test("replies, context and instructions; context that would interrupt a turn waits for its end", () => {
  const { codec, content } = codecOf();
  expect(sent(codec.reply?.("Say goodbye.", "r") ?? [])).toEqual<GeminiMessages>([
    { realtimeInput: { text: "(Say goodbye.)" } },
  ]);
  const context = { turns: [{ role: "user", parts: [{ text: "It is 5." }] }], turnComplete: false };
  expect(sent(codec.addContext?.("It is 5.") ?? [])).toEqual<GeminiMessages>([
    { clientContent: context },
  ]);
  content(audio);
  expect(codec.addContext?.("It is 5.")).toEqual([]);
  const send = content({ turnComplete: true }).at(-1);
  expect(send?.type === "send" && sent(send.messages)).toEqual([{ clientContent: context }]);
  expect(sent(codec.setInstructions?.("Be kind.") ?? [])).toEqual<GeminiMessages>([
    { contextUpdate: { systemInstruction: { parts: [{ text: "Be kind." }] } } },
  ]);
  expect(codecOf().read({ usageMetadata: { totalTokenCount: 12 } })).toEqual([
    { type: "usage", tokens: 12 },
  ]);
});

test.each([
  ["gemini-3.8-live", true, true],
  ["gemini-3.1-flash-live-preview", false, false],
  ["gemini-2.5-flash-native-audio-preview-12-2025", true, false],
])("%s: what it can is known before the call", (model, addContext, setInstructions) => {
  const agent = gemini({ apiKey, model });
  const can = { say: false, reply: true, cancel: false, addContext, setInstructions };
  expect(agent.can).toEqual(can);
  const codec = agent.codec({ sampleRate: 8000 });
  for (const [name, isAble] of Object.entries(can)) expect(!!Reflect.get(codec, name)).toBe(isAble);
});
