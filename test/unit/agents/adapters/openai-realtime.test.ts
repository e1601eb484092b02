import type {
  ConversationItemCreateEvent,
  ConversationItemTruncateEvent,
  InputAudioBufferAppendEvent,
  RealtimeServerEvent,
  ResponseCancelEvent,
  ResponseCreateEvent,
  SessionUpdateEvent,
} from "openai/resources/realtime/realtime";
import { describe, expect, test } from "vitest";
import type { OpenAIRealtimeOptions } from "../../../../src/agents/adapters/openai-realtime.ts";
import { openaiRealtime } from "../../../../src/agents/adapters/openai-realtime.ts";
import type { AgentMessage, Codec } from "../../../../src/agents/agent.ts";

const apiKey = "sk-MARKED";
const codecOf = (options: Partial<OpenAIRealtimeOptions> = {}, sampleRate: 8000 | 16000 = 8000) => {
  const codec = openaiRealtime({ apiKey, ...options }).codec({ sampleRate });
  return { codec, read: (event: RealtimeServerEvent) => codec.decode(JSON.stringify(event)) };
};
const sent = (messages: readonly AgentMessage[]) =>
  messages.map((message) => JSON.parse(String(message)));

const due = (codec: Codec) => sent(codec.due?.() ?? []);

const created = (id: string): RealtimeServerEvent => ({
  type: "response.created",
  event_id: "e",
  response: { id, status: "in_progress" },
});
const done = (id: string): RealtimeServerEvent => ({
  type: "response.done",
  event_id: "e",
  response: { id, status: "completed" },
});
const asks = (
  call_id: string,
  status: "completed" | "incomplete" = "completed",
): RealtimeServerEvent => ({
  type: "response.output_item.done",
  event_id: "e",
  response_id: "r1",
  output_index: 1,
  item: { type: "function_call", call_id, name: "look_up", arguments: '{"id":7}', status },
});
const result = (id: string, reply = true) =>
  ({ id, name: "look_up", output: "yes", isError: false, reply }) as const;
const output = (call_id: string) =>
  ({
    type: "conversation.item.create",
    item: { type: "function_call_output", call_id, output: "yes" },
  }) satisfies ConversationItemCreateEvent;
const create = { type: "response.create" } satisfies ResponseCreateEvent;

const hangUpTool = {
  type: "function",
  name: "hang_up",
  description: "Ends the call. Say goodbye first: it is heard to its end.",
  parameters: { type: "object", properties: {} },
} as const;

test.each([
  [8000, { type: "audio/pcmu" }, { encoding: "ulaw", sampleRate: 8000 }],
  [16000, { type: "audio/pcm", rate: 24000 }, { encoding: "pcm", sampleRate: 24000 }],
] as const)(
  "a stream at %i is configured, turn detection and all",
  (sampleRate, format, spoken) => {
    const tools = { look_up: { description: "Looks up.", run: () => "yes" } };
    const { codec } = codecOf({ instructions: "Be brief.", tools }, sampleRate);
    expect(codec.formats).toEqual({ input: spoken, output: spoken });
    expect(sent(codec.open())).toEqual([
      {
        type: "session.update",
        session: {
          type: "realtime",
          instructions: "Be brief.",
          output_modalities: ["audio"],
          tools: [
            {
              type: "function",
              name: "look_up",
              description: "Looks up.",
              parameters: { type: "object", properties: {} },
            },
            hangUpTool,
          ],
          audio: {
            input: {
              format,
              transcription: { model: "gpt-4o-mini-transcribe" },
              turn_detection: {
                type: "server_vad",
                create_response: true,
                interrupt_response: true,
              },
            },
            output: { format, voice: "marin" },
          },
        },
      } satisfies SessionUpdateEvent,
    ]);
  },
);

test("it begins by itself, with a greeting, or not at all", () => {
  expect(sent(codecOf().codec.answered())).toEqual([create]);
  expect(sent(codecOf({ greeting: false }).codec.answered())).toEqual([]);
  expect(sent(codecOf({ greeting: "Hello!", instructions: "Sell." }).codec.answered())).toEqual([
    {
      type: "response.create",
      response: { instructions: "Sell.\n\nBegin with: Hello!" },
    } satisfies ResponseCreateEvent,
  ]);
});

test("what the callee says is appended", () => {
  expect(sent(codecOf().codec.encode(new Uint8Array([1, 2, 3])))).toEqual([
    { type: "input_audio_buffer.append", audio: "AQID" } satisfies InputAudioBufferAppendEvent,
  ]);
});

test("audio, words, interruptions and tools are read", () => {
  const { read } = codecOf();
  const where = {
    event_id: "e",
    response_id: "r1",
    item_id: "i1",
    output_index: 0,
    content_index: 1,
  };
  expect(read({ type: "session.updated", event_id: "e", session: { type: "realtime" } })).toEqual([
    { type: "ready" },
  ]);
  expect(read(created("r1"))).toEqual([{ type: "response_started", response: "r1" }]);
  expect(read({ type: "response.output_audio.delta", ...where, delta: "AQID" })).toEqual([
    { type: "audio", audio: new Uint8Array([1, 2, 3]), item: "i1#1", response: "r1" },
  ]);
  expect(read({ type: "response.output_audio_transcript.delta", ...where, delta: "Hel" })).toEqual([
    {
      type: "transcript",
      who: "agent",
      text: "Hel",
      final: false,
      item: "i1#1",
      response: "r1",
    },
  ]);
  expect(
    read({ type: "response.output_audio_transcript.done", ...where, transcript: "Hello" }),
  ).toEqual([
    {
      type: "transcript",
      who: "agent",
      text: "Hello",
      final: true,
      item: "i1#1",
      response: "r1",
    },
  ]);
  expect(
    read({
      type: "conversation.item.input_audio_transcription.completed",
      event_id: "e",
      item_id: "i2",
      content_index: 0,
      transcript: "Yes",
      usage: { type: "duration", seconds: 1 },
    }),
  ).toEqual([{ type: "transcript", who: "callee", text: "Yes", final: true, item: "i2" }]);
  const stopped = { event_id: "e", item_id: "i3", audio_end_ms: 1 };
  expect(read({ type: "input_audio_buffer.speech_stopped", ...stopped })).toEqual([
    { type: "speech_stopped" },
  ]);
  expect(
    read({
      type: "input_audio_buffer.speech_started",
      event_id: "e",
      item_id: "i3",
      audio_start_ms: 1,
    }),
  ).toEqual([{ type: "interrupted" }]);
  expect(read(asks("c1"))).toEqual([
    { type: "tool", id: "c1", name: "look_up", arguments: '{"id":7}', response: "r1" },
  ]);
  expect(read(done("r1"))).toEqual([{ type: "response_done", response: "r1" }]);
  expect(read({ type: "input_audio_buffer.cleared", event_id: "e" })).toEqual([]);
});

test("the names of before the API was generally available are read, too", () => {
  const { codec } = codecOf();
  const where = { response_id: "r1", item_id: "i1", content_index: 0 };
  const read = (message: object) => codec.decode(JSON.stringify({ ...where, ...message }));
  expect(read({ type: "response.audio.delta", delta: "AQID" })).toEqual([
    { type: "audio", audio: new Uint8Array([1, 2, 3]), item: "i1", response: "r1" },
  ]);
  const said = { type: "transcript", who: "agent", item: "i1", response: "r1" };
  expect(read({ type: "response.audio_transcript.delta", delta: "Hel" })).toEqual([
    { ...said, text: "Hel", final: false },
  ]);
  expect(read({ type: "response.audio_transcript.done", transcript: "Hello" })).toEqual([
    { ...said, text: "Hello", final: true },
  ]);
});

test("a call that the model has not finished is none, and neither are its arguments alone", () => {
  const { read } = codecOf();
  read(created("r1"));
  expect(read(asks("c1", "incomplete"))).toEqual([]);
  expect(
    read({
      type: "response.function_call_arguments.done",
      event_id: "e",
      response_id: "r1",
      item_id: "i9",
      output_index: 1,
      call_id: "c1",
      name: "look_up",
      arguments: "",
    }),
  ).toEqual([]);
});

test("trap: each item that was cut off is truncated where it was heard, and nothing else", () => {
  const { codec, read } = codecOf();
  expect(codec.interrupted([])).toEqual([]); // Before the first audio there is nothing to truncate.
  read(created("r1"));
  expect(
    sent(
      codec.interrupted([
        { item: "i1", played: 740, duration: 900 },
        { item: "i2#2", played: 0, duration: 300 },
      ]),
    ),
  ).toEqual([
    { type: "conversation.item.truncate", item_id: "i1", content_index: 0, audio_end_ms: 740 },
    { type: "conversation.item.truncate", item_id: "i2", content_index: 2, audio_end_ms: 0 },
  ] satisfies ConversationItemTruncateEvent[]);
});

test("trap: an answer is cancelled only if it doesn't cancel itself, and is being made", () => {
  const turnDetection = { type: "semantic_vad", interrupt_response: false } as const;
  const { codec, read } = codecOf({ turnDetection });
  expect(codec.interrupted([])).toEqual([]);
  read(created("r1"));
  expect(sent(codec.interrupted([]))).toEqual([
    { type: "response.cancel", response_id: "r1" } satisfies ResponseCancelEvent,
  ]);
  read(done("r1"));
  expect(codec.interrupted([])).toEqual([]);
});

test("trap: an answer to tools is asked for once, when all are answered and the turn has ended", () => {
  const { codec, read } = codecOf();
  read(created("r1"));
  expect(sent(codec.toolResult(result("c1")))).toEqual([output("c1")]);
  expect(sent(codec.toolResult(result("c2")))).toEqual([output("c2")]);
  expect(due(codec)).toEqual([]);
  read(done("r1"));
  expect(due(codec)).toEqual([create]);
  expect(due(codec)).toEqual([]);
  codec.toolResult(result("c3", false));
  expect(due(codec)).toEqual([]);
});

const acknowledged = (call_id: string): RealtimeServerEvent => ({
  type: "conversation.item.added",
  event_id: "e",
  item: { type: "function_call_output", call_id, output: "yes" },
});

test("a response that the service begins by itself answers the results that it knows, and no others", () => {
  const { codec, read } = codecOf();
  codec.toolResult(result("c1"));
  read(acknowledged("c1"));
  read(created("r1"));
  read(done("r1"));
  expect(due(codec)).toEqual([]);
  codec.toolResult(result("c2"));
  read(created("r2"));
  read(acknowledged("c2"));
  read(done("r2"));
  expect(due(codec)).toEqual([create]);
});

describe("a response that is lost by an error of the service is asked for again", () => {
  const lost = (id: string, error: object): RealtimeServerEvent => ({
    type: "response.done",
    event_id: "e",
    response: { id, status: "failed", status_details: { type: "failed", error } },
  });

  test.each([{ type: "server_error" }, { code: "rate_limit_exceeded" }])(
    "%j: twice at most, and anew after one that was completed",
    (error) => {
      const { codec, read } = codecOf();
      for (const asked of [[create], [create], [], []]) {
        read(created("r1"));
        read(lost("r1", error));
        expect(due(codec)).toEqual(asked);
      }
      read(created("r2"));
      read(done("r2"));
      expect(due(codec)).toEqual([]);
      read(lost("r3", error));
      expect(due(codec)).toEqual([create]);
    },
  );

  test("with its greeting, if that is what was lost", () => {
    const { codec, read } = codecOf({ greeting: "Hello!" });
    const greeting = sent(codec.answered());
    read(created("r1"));
    read(lost("r1", { type: "server_error" }));
    expect(due(codec)).toEqual(greeting);
    read(created("r2"));
    read(done("r2"));
    read(lost("r3", { type: "server_error" }));
    expect(due(codec)).toEqual([create]);
  });

  test("but not where the service has begun another by itself, nor after another error", () => {
    const { codec, read } = codecOf();
    read(lost("r1", { type: "server_error" }));
    read(created("r2"));
    read(done("r2"));
    expect(due(codec)).toEqual([]);
    read(lost("r3", { code: "insufficient_quota" }));
    expect(due(codec)).toEqual([]);
  });
});

test.each([
  ["response_cancel_not_active", []],
  ["conversation_already_has_active_response", []],
  ["invalid_value", [{ type: "error", code: "invalid_value" }]],
  [
    "session_expired",
    [
      { type: "error", code: "session_expired" },
      { type: "end", reason: "session_limit" },
    ],
  ],
  ["invalid_api_key", [{ type: "error", code: "invalid_api_key" }]], // The session ends for it.
])("trap: of an error, %s, its word is reported, if it is one", (code, events) => {
  const error = { type: "invalid_request_error", code, message: "sk-MARKED is wrong" };
  expect(codecOf().read({ type: "error", event_id: "e", error })).toEqual(events);
});

test("a response that failed or is incomplete is an error by the service's code, and a cancelled one is none", () => {
  const { read } = codecOf();
  const response = {
    id: "r1",
    status: "failed",
    status_details: { type: "failed", error: { code: "insufficient_quota", type: "x" } },
  } as const;
  expect(read({ type: "response.done", event_id: "e", response })).toEqual([
    { type: "response_done", response: "r1", outcome: "failed" },
    { type: "error", code: "insufficient_quota" },
  ]);
  const incomplete = {
    id: "r2",
    status: "incomplete",
    status_details: { type: "incomplete", reason: "content_filter" },
  } as const;
  expect(read({ type: "response.done", event_id: "e", response: incomplete })).toEqual([
    { type: "response_done", response: "r2", outcome: "failed" },
    { type: "error", code: "content_filter" },
  ]);
  const cancelled = { id: "r3", status: "cancelled" } as const;
  expect(read({ type: "response.done", event_id: "e", response: cancelled })).toEqual([
    { type: "response_done", response: "r3", outcome: "cancelled" },
  ]);
});

test("a status that is the name of a property of every object is none", () => {
  const { codec } = codecOf();
  const response = { id: "r1", status: "constructor" };
  expect(codec.decode(JSON.stringify({ type: "response.done", response }))).toEqual([
    { type: "response_done", response: "r1" },
  ]);
});

test("trap: if a response to the callee was faster than the one to a tool, that follows it", () => {
  const { codec, read } = codecOf();
  const isActive = "conversation_already_has_active_response";
  const refused: RealtimeServerEvent = {
    type: "error",
    event_id: "e",
    error: { type: "invalid_request_error", code: isActive, message: "" },
  };
  read(refused); // The greeting: nothing is due.
  read(created("r1"));
  expect(read(done("r1"))).toEqual([{ type: "response_done", response: "r1" }]);
  codec.toolResult(result("c1"));
  expect(due(codec)).toEqual([create]);
  read(created("r2")); // Begun before the result came.
  expect(read(refused)).toEqual([]);
  read(done("r2"));
  expect(due(codec)).toEqual([create]);
  read(created("r3"));
  read(done("r3"));
  expect(due(codec)).toEqual([]); // Once.
});

test("the key is in a header or a subprotocol, and never in the URL", async () => {
  const address = await openaiRealtime({ apiKey: async () => apiKey, model: "gpt-x" }).address();
  expect(address).toEqual({
    url: "wss://api.openai.com/v1/realtime?model=gpt-x",
    headers: { Authorization: "Bearer sk-MARKED" },
    protocols: ["realtime", "openai-insecure-api-key.sk-MARKED"],
  });
});
