import type {
  ConversationItemCreateEvent,
  ConversationItemTruncateEvent,
  InputAudioBufferAppendEvent,
  RealtimeServerEvent,
  ResponseCancelEvent,
  ResponseCreateEvent,
  SessionUpdateEvent,
} from "openai/resources/realtime/realtime";
import { expect, test } from "vitest";
import { openaiRealtime } from "../../../../../src/agents/adapters/openai-realtime/openai-realtime.ts";
import type { OpenAIRealtimeOptions } from "../../../../../src/agents/adapters/openai-realtime/options.ts";
import type { Frame } from "../../../../../src/agents/agent.ts";

const apiKey = "sk-MARKED";
const codecOf = (
  options: Partial<OpenAIRealtimeOptions> = {},
  sample_rate: 8000 | 16000 = 8000,
) => {
  const codec = openaiRealtime({ apiKey, ...options }).codec({ sample_rate });
  return { codec, read: (event: RealtimeServerEvent) => codec.read(JSON.stringify(event)) };
};
const sent = (frames: readonly Frame[]) => frames.map((frame) => JSON.parse(String(frame)));

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
const asks = (call_id: string): RealtimeServerEvent => ({
  type: "response.function_call_arguments.done",
  event_id: "e",
  response_id: "r1",
  item_id: "i9",
  output_index: 1,
  call_id,
  name: "look_up",
  arguments: '{"id":7}',
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
  [8000, { type: "audio/pcmu" }, { encoding: "ulaw", sample_rate: 8000 }],
  [16000, { type: "audio/pcm", rate: 24000 }, { encoding: "pcm", sample_rate: 24000 }],
] as const)(
  "a stream at %i is configured, turn detection and all",
  (sample_rate, format, spoken) => {
    const tools = { look_up: { description: "Looks up.", run: () => "yes" } };
    const { codec } = codecOf({ instructions: "Be brief.", tools }, sample_rate);
    expect(codec.formats).toEqual({ hears: spoken, speaks: spoken });
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
  expect(sent(codecOf().codec.hear(new Uint8Array([1, 2, 3])))).toEqual([
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
  expect(read(created("r1"))).toEqual([{ type: "turn", turn: "r1" }]);
  expect(read({ type: "response.output_audio.delta", ...where, delta: "AQID" })).toEqual([
    { type: "audio", audio: new Uint8Array([1, 2, 3]), item: "1 i1", turn: "r1" },
  ]);
  expect(read({ type: "response.output_audio_transcript.delta", ...where, delta: "Hel" })).toEqual([
    { type: "transcript", who: "agent", text: "Hel", final: false },
  ]);
  expect(
    read({ type: "response.output_audio_transcript.done", ...where, transcript: "Hello" }),
  ).toEqual([{ type: "transcript", who: "agent", text: "Hello", final: true }]);
  expect(
    read({
      type: "conversation.item.input_audio_transcription.completed",
      event_id: "e",
      item_id: "i2",
      content_index: 0,
      transcript: "Yes",
      usage: { type: "duration", seconds: 1 },
    }),
  ).toEqual([{ type: "transcript", who: "callee", text: "Yes", final: true }]);
  expect(
    read({
      type: "input_audio_buffer.speech_started",
      event_id: "e",
      item_id: "i3",
      audio_start_ms: 1,
    }),
  ).toEqual([{ type: "interrupted" }]);
  expect(read(asks("c1"))).toEqual([
    { type: "tool", id: "c1", name: "look_up", arguments: '{"id":7}' },
  ]);
  expect(read(done("r1"))).toEqual([{ type: "done", turn: "r1" }]);
  expect(read({ type: "input_audio_buffer.cleared", event_id: "e" })).toEqual([]);
});

test("trap: each item that was cut off is truncated where it was heard, and nothing else", () => {
  const { codec, read } = codecOf();
  expect(codec.interrupted([])).toEqual([]); // Before the first audio there is nothing to truncate.
  read(created("r1"));
  expect(
    sent(
      codec.interrupted([
        { item: "0 i1", heard: 740, of: 900 },
        { item: "2 i2", heard: 0, of: 300 },
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
  read(asks("c1"));
  read(asks("c2"));
  expect(sent(codec.toolResult(result("c1")))).toEqual([output("c1")]);
  expect(sent(codec.toolResult(result("c2")))).toEqual([output("c2")]);
  const [, send] = read(done("r1"));
  expect(send).toEqual({ type: "send", frames: [JSON.stringify(create)] });
  expect(read(done("r1"))).toHaveLength(1);
  read(asks("c3"));
  expect(sent(codec.toolResult(result("c3")))).toEqual([output("c3"), create]);
  read(asks("c4"));
  expect(sent(codec.toolResult(result("c4", false)))).toEqual([output("c4")]);
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
  [
    "invalid_api_key",
    [
      { type: "error", code: "invalid_api_key" },
      { type: "end", reason: "agent_refused" },
    ],
  ],
])("trap: of an error, %s, its word is told, if it is one", (code, events) => {
  const error = { type: "invalid_request_error", code, message: "sk-MARKED is wrong" };
  expect(codecOf().read({ type: "error", event_id: "e", error })).toEqual(events);
});

test("an answer that failed is told", () => {
  const { read } = codecOf();
  const response = {
    id: "r1",
    status: "failed",
    status_details: { type: "failed", error: { code: "insufficient_quota", type: "x" } },
  } as const;
  expect(read({ type: "response.done", event_id: "e", response })).toEqual([
    { type: "done", turn: "r1" },
    { type: "error", code: "insufficient_quota" },
  ]);
});

test("the key is in a header or a subprotocol, and never in the URL", async () => {
  const address = await openaiRealtime({ apiKey: async () => apiKey, model: "gpt-x" }).address();
  expect(address).toEqual({
    url: "wss://api.openai.com/v1/realtime?model=gpt-x",
    headers: { Authorization: "Bearer sk-MARKED" },
    protocols: ["realtime", "openai-insecure-api-key.sk-MARKED"],
  });
});
