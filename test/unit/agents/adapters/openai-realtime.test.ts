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
  const retry = (codec: Codec) => sent(codec.retry?.() ?? []);

  test("where another may not have it", () => {
    const errors = [
      [{ type: "server_error" }, true],
      [{ code: "rate_limit_exceeded" }, true],
      [{ code: "insufficient_quota", type: "x" }, false],
    ] as const;
    for (const [error, transient] of errors) {
      const [failed] = codecOf().read(lost("r1", error));
      expect(failed).toEqual({ type: "failed", transient, response: "r1" });
    }
  });

  test("as what was lost was asked for: the greeting, a reply, or a response to the callee", () => {
    const { codec, read } = codecOf({ greeting: "Hello!" });
    const error = { type: "server_error" };
    const greeting = sent(codec.answered());
    for (const id of ["r1", "r2"]) {
      read(created(id));
      read(lost(id, error));
      expect(retry(codec)).toEqual(greeting);
    }
    read(created("r3"));
    read(done("r3"));
    const reply = sent(codec.reply?.("Be brief.", "a1") ?? []);
    read(created("r4"));
    read(lost("r4", error));
    expect(retry(codec)).toEqual(reply);
    read(created("r5"));
    read(done("r5"));
    read(created("r6")); // By itself.
    read(lost("r6", error));
    expect(retry(codec)).toEqual([create]);
  });

  test("but not while the service makes another one", () => {
    const { codec, read } = codecOf();
    read(created("r1"));
    read(lost("r1", { type: "server_error" }));
    read(created("r2"));
    expect(retry(codec)).toEqual([]);
  });
});

describe("what the application says", () => {
  test("is a response by instructions beside the session's, which is known by its id", () => {
    const { codec, read } = codecOf({ instructions: "Sell." });
    const reply = (more?: string) => sent(codec.reply?.(more, "a1") ?? []);
    const asked = (instructions?: string) => [
      {
        type: "response.create",
        event_id: "a1",
        response: { ...(instructions && { instructions }), metadata: { request: "a1" } },
      } satisfies ResponseCreateEvent,
    ];
    expect(reply()).toEqual(asked());
    expect(reply("Ask.")).toEqual(asked("Sell.\n\nAsk."));
    codec.setInstructions?.("Help.");
    expect(reply("Ask.")).toEqual(asked("Help.\n\nAsk."));
    const response = { id: "r1", status: "in_progress", metadata: { request: "a1" } } as const;
    expect(read({ type: "response.created", event_id: "e", response })).toEqual([
      { type: "response_started", response: "r1", request: "a1" },
    ]);
  });

  test("is refused by its id while another response is made, and no result is asked about for that", () => {
    const { codec, read } = codecOf();
    codec.reply?.("Ask.", "a1");
    const code = "conversation_already_has_active_response";
    const error = { type: "invalid_request_error", code, message: "", event_id: "a1" };
    expect(read({ type: "error", event_id: "e", error })).toEqual([{ type: "refused", id: "a1" }]);
    expect(due(codec)).toEqual([]);
  });

  test("is known to the model, changes what it is to do, or stops what it says", () => {
    const { codec, read } = codecOf();
    expect(sent(codec.addContext?.("It rains.") ?? [])).toEqual([
      {
        type: "conversation.item.create",
        item: {
          type: "message",
          role: "system",
          content: [{ type: "input_text", text: "It rains." }],
        },
      } satisfies ConversationItemCreateEvent,
    ]);
    expect(sent(codec.setInstructions?.("Help.") ?? [])).toEqual([
      {
        type: "session.update",
        session: { type: "realtime", instructions: "Help." },
      } satisfies SessionUpdateEvent,
    ]);
    expect(codec.cancel?.([])).toEqual([]);
    read(created("r1"));
    const cuts = [{ item: "i1", played: 70, duration: 900 }];
    expect(sent(codec.cancel?.(cuts) ?? [])).toEqual([
      { type: "response.cancel", response_id: "r1" } satisfies ResponseCancelEvent,
      {
        type: "conversation.item.truncate",
        item_id: "i1",
        content_index: 0,
        audio_end_ms: 70,
      } satisfies ConversationItemTruncateEvent,
    ]);
  });
});

test("what the service has counted for a response is read", () => {
  const usage = { total_tokens: 120, input_tokens: 100, output_tokens: 20 };
  const response = { id: "r1", status: "completed", usage } as const;
  expect(codecOf().read({ type: "response.done", event_id: "e", response })).toEqual([
    { type: "usage", tokens: 120 },
    { type: "response_done", response: "r1" },
  ]);
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
    { type: "failed", transient: false, response: "r1" },
    { type: "response_done", response: "r1", outcome: "failed" },
    { type: "error", code: "insufficient_quota" },
  ]);
  const incomplete = {
    id: "r2",
    status: "incomplete",
    status_details: { type: "incomplete", reason: "content_filter" },
  } as const;
  expect(read({ type: "response.done", event_id: "e", response: incomplete })).toEqual([
    { type: "failed", transient: false, response: "r2" },
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
