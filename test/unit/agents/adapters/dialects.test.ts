import { expect, test } from "vitest";
import { azure } from "../../../../src/agents/adapters/azure.ts";
import { xai } from "../../../../src/agents/adapters/xai.ts";
import type { Agent, AgentMessage } from "../../../../src/agents/agent.ts";

const apiKey = "key-MARKED";
const url = "wss://r.openai.azure.com/openai/v1/realtime";
const codecOf = (agent: Agent, sampleRate: 8000 | 16000 = 8000) => {
  const codec = agent.codec({ sampleRate });
  return { codec, read: (event: object) => codec.decode(JSON.stringify(event)) };
};
const sent = (messages: readonly AgentMessage[] = []) =>
  messages.map((message) => JSON.parse(String(message)));
const hangUp = expect.objectContaining({ type: "function", name: "hang_up" });

test("azure: the key is in a header of its own, and no runtime without headers gets it", async () => {
  expect(await azure({ apiKey, url, model: "my deployment" }).address()).toEqual({
    url: `${url}?model=my+deployment`,
    headers: { "api-key": apiKey },
  });
});

test("azure: url and model are required", () => {
  const refused = (param: string) =>
    expect.objectContaining({ name: "BadParametersException", param });
  expect(() => azure({ apiKey, model: "d" } as never)).toThrow(refused("url"));
  expect(() => azure({ apiKey, url } as never)).toThrow(refused("model"));
});

test("azure: its session is OpenAI's, without a transcription that would need a deployment", () => {
  const session = (transcription?: string) => {
    const agent = azure({ apiKey, url, model: "d", ...(transcription && { transcription }) });
    return sent(codecOf(agent).codec.open())[0].session;
  };
  expect(session()).toEqual({
    type: "realtime",
    output_modalities: ["audio"],
    tools: [hangUp],
    audio: {
      input: {
        format: { type: "audio/pcmu" },
        turn_detection: { type: "server_vad", create_response: true, interrupt_response: true },
      },
      output: { format: { type: "audio/pcmu" }, voice: "marin" },
    },
  });
  expect(session("whisper").audio.input.transcription).toEqual({ model: "whisper" });
});

test("xai: the key is in a header alone, and the model has a default", async () => {
  expect(await xai({ apiKey }).address()).toEqual({
    url: "wss://api.x.ai/v1/realtime?model=grok-voice-latest",
    headers: { Authorization: `Bearer ${apiKey}` },
  });
});

test.each([
  [8000, { type: "audio/pcmu" }, { encoding: "ulaw", sampleRate: 8000 }],
  [16_000, { type: "audio/pcm", rate: 16_000 }, { encoding: "pcm", sampleRate: 16_000 }],
] as const)("xai: voice and turn detection are at the top level, at %i Hz", (rate, format, own) => {
  const { codec } = codecOf(xai({ apiKey, instructions: "Be brief.", voice: "ara" }), rate);
  expect(codec.formats).toEqual({ input: own, output: own });
  expect(sent(codec.open())).toEqual([
    {
      type: "session.update",
      session: {
        instructions: "Be brief.",
        voice: "ara",
        turn_detection: { type: "server_vad" },
        tools: [hangUp],
        audio: { input: { format }, output: { format } },
      },
    },
  ]);
  expect(sent(codec.setInstructions?.("Sell."))).toEqual([
    { type: "session.update", session: { instructions: "Sell." } },
  ]);
});

test("xai: of several transcripts of an item those in progress are no text, and later ones replace", () => {
  const { read } = codecOf(xai({ apiKey }));
  const completed = (transcript: string, status: string, item_id = "i1") =>
    read({
      type: "conversation.item.input_audio_transcription.completed",
      ...{ item_id, transcript, status },
    });
  const text = { type: "transcript", who: "callee", final: true };
  expect(completed("I", "in_progress")).toEqual([]);
  expect(completed("I want", "completed")).toEqual([{ ...text, text: "I want", item: "i1" }]);
  expect(completed("I want to", "in_progress")).toEqual([]);
  expect(completed("I want two.", "completed")).toEqual([
    { ...text, text: "I want two.", item: "i1", replaces: true },
  ]);
  expect(completed("Yes.", "completed", "i2")).toEqual([{ ...text, text: "Yes.", item: "i2" }]);
});

test("xai: an interruption cancels, and errors that are only words mean what OpenAI's codes mean", () => {
  const { codec, read } = codecOf(xai({ apiKey }));
  const error = (message: string, more = {}) =>
    read({ type: "error", error: { type: "invalid_request_error", message, ...more } });
  expect(error("Cancellation failed: no active response found")).toEqual([]);
  expect(error("Audio content of 20ms is already shorter: cannot truncate")).toEqual([]);
  expect(error("The voice is unknown", { code: "invalid_value" })).toEqual([
    { type: "error", code: "invalid_value" },
  ]);
  read({ type: "response.created", response: { id: "r1" } });
  expect(sent(codec.interrupted([{ item: "i1", played: 40, duration: 90 }]))).toEqual([
    { type: "response.cancel", response_id: "r1" },
    { type: "conversation.item.truncate", item_id: "i1", content_index: 0, audio_end_ms: 40 },
  ]);
  const busy = "Conversation already has an active response";
  expect(error(busy, { event_id: "a" })).toEqual([{ type: "refused", id: "a" }]);
});

test("xai: a text is said word for word, without a request for a response", () => {
  const { codec } = codecOf(xai({ apiKey }));
  expect(sent(codec.say?.("I am a machine.", "a"))).toEqual([
    {
      type: "conversation.item.create",
      item: {
        type: "force_message",
        role: "assistant",
        content: [{ type: "output_text", text: "I am a machine." }],
      },
    },
  ]);
  expect(codecOf(azure({ apiKey, url, model: "d" })).codec.say).toBeUndefined();
});

/** What becomes of a text of xai's, by the messages that come after it. */
const saying = (...messages: readonly object[]) => {
  const { codec, read } = codecOf(xai({ apiKey }));
  const said = sent(codec.say?.("This call is recorded.", "7"));
  const events = messages.flatMap(read);
  return { said, events, codec, read };
};
const has = { type: "conversation.item.added", item: { type: "force_message" } };
const begins = (id: string) => ({ type: "response.created", response: { id } });
const fails = (id: string) => {
  const status_details = { error: { code: "server_error" } };
  return { type: "response.done", response: { id, status: "failed", status_details } };
};

test("xai: a text whose response has failed is said again, and nothing in its place", () => {
  const { said, events, codec, read } = saying(has, begins("r"), fails("r"));
  expect(events[0]).toEqual({ type: "response_started", response: "r", request: "7" });
  expect(sent(codec.retry?.())).toEqual(said);
  expect(read(has).concat(read(begins("r2")))).toEqual([
    { type: "response_started", response: "r2", request: "7" },
  ]);
});

test.each([
  ["before the service has it", [begins("own"), has]],
  ["and the service doesn't report that it has it", [begins("own")]],
])("xai: a text isn't said twice where a response of its own fails, %s", (_, messages) => {
  const { events, codec, read } = saying(...messages, fails("own"));
  expect(events[0]).toEqual({ type: "response_started", response: "own" });
  expect(codec.retry?.()).toEqual([]);
  read(begins("said"));
  read({ type: "response.done", response: { id: "said", status: "completed" } });
  read(begins("other"));
  read(fails("other"));
  expect(sent(codec.retry?.())).toEqual([{ type: "response.create" }]);
});
