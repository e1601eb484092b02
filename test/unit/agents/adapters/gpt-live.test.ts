import type {
  CommentaryAppendEvent,
  InputAudioAppendEvent,
  InstructionsAppendEvent,
  ResponseCreateEvent,
  ResponseItemCreateEvent,
  ServerEvent,
  SessionCloseEvent,
  SessionResource,
  SessionStartEvent,
  ThinkingAppendEvent,
} from "openai/resources/live/live";
import { describe, expect, test } from "vitest";
import { type GptLiveOptions, gptLive } from "../../../../src/agents/adapters/gpt-live.ts";
import type { AgentMessage } from "../../../../src/agents/agent.ts";

const apiKey = "sk-MARKED";
const codecOf = (options: Partial<GptLiveOptions> = {}, sampleRate: 8000 | 16000 = 8000) => {
  const codec = gptLive({ apiKey, ...options }).codec({ sampleRate });
  return { codec, read: (event: ServerEvent) => codec.decode(JSON.stringify(event)) };
};
const sent = (messages: readonly AgentMessage[]) =>
  messages.map((message) => JSON.parse(String(message)));
const session: SessionResource = {
  id: "s1",
  expires_at: 0,
  model: "gpt-live-1",
  status: "active",
};

test.each([
  [8000, { type: "audio/pcmu", rate: 8000 }],
  [16000, { type: "audio/pcm", rate: 16000 }],
] as const)(
  "a stream at %i needs no resampling; the session starts with the call",
  (rate, format) => {
    const { codec } = codecOf({ instructions: "Be brief." }, rate);
    expect(codec.open()).toEqual([]);
    expect(codec.continuous).toBe(true);
    expect(codec.formats?.input.sampleRate).toBe(rate);
    expect(sent(codec.answered())).toEqual([
      {
        type: "session.start",
        session: {
          model: "gpt-live-1",
          instructions: "Be brief.",
          audio: { format, output: { voice: "marin" } },
          delegation: {
            type: "responses",
            responses: {
              model: "gpt-5-mini",
              tools: [
                {
                  type: "function",
                  strict: false,
                  name: "hang_up",
                  description: expect.any(String),
                  parameters: { type: "object", properties: {} },
                },
              ],
            },
          },
        },
      } satisfies SessionStartEvent,
    ]);
  },
);

test("it is ready once started, and given how to begin", () => {
  const started: ServerEvent = { type: "session.started", event_id: "e", session };
  expect(codecOf().read(started)).toEqual([{ type: "ready", begins: "callee" }]);
  const [ready, send] = codecOf({ greeting: "Hello!" }).read(started);
  expect(ready).toEqual({ type: "ready" });
  expect(send?.type === "send" && sent(send.messages)).toEqual([
    {
      type: "session.commentary.append",
      content: "Begin the call with: Hello!",
      delegation_id: null,
    } satisfies CommentaryAppendEvent,
  ]);
});

test("audio and words go both ways, and an interruption needs nothing", () => {
  const { codec, read } = codecOf();
  expect(sent(codec.encode(new Uint8Array([1, 2, 3])))).toEqual([
    { type: "session.input_audio.append", audio: "AQID" } satisfies InputAudioAppendEvent,
  ]);
  expect(read({ type: "session.output_audio.delta", delta: "AQID" })).toEqual([
    { type: "audio", audio: new Uint8Array([1, 2, 3]) },
  ]);
  const at = { event_id: "e", start_ms: 0, end_ms: 20 };
  expect(read({ type: "session.output_transcript.delta", delta: "Hel", ...at })).toEqual([
    { type: "transcript", who: "agent", text: "Hel", final: false },
  ]);
  expect(read({ type: "session.input_transcript.delta", delta: "Y", ...at })).toEqual([
    { type: "speech" },
    { type: "transcript", who: "callee", text: "Y", final: false },
  ]);
  expect(codec.interrupted([{ item: "", played: 1, duration: 2 }])).toEqual([]);
});

test("the backend is continued once: when all calls of its response are answered, and it has completed", () => {
  const { codec, read } = codecOf();
  const asks = (call_id: string): ServerEvent => ({
    type: "response.event",
    event_id: "e",
    delegation_id: "d1",
    event: {
      type: "response.output_item.done",
      item: { type: "function_call", call_id, name: "look_up", arguments: "{}" },
    },
  });
  expect(read(asks("c1"))).toEqual([
    { type: "tool", id: "c1", name: "look_up", arguments: "{}", response: "1" },
  ]);
  expect(read(asks("c1"))).toEqual([]); // Doubled.
  const result = (id: string) =>
    ({ id, name: "look_up", output: "yes", isError: false, reply: true }) as const;
  const completed: ServerEvent = {
    type: "response.event",
    event_id: "e",
    delegation_id: "d1",
    event: { type: "response.completed", response: { id: "r1" } },
  };
  const output = (call_id: string) =>
    ({
      type: "response.item.create",
      item: { type: "function_call_output", call_id, output: "yes" },
    }) satisfies ResponseItemCreateEvent;
  expect(sent(codec.toolResult(result("c1")))).toEqual([output("c1")]);
  read(asks("c2"));
  expect(sent(codec.toolResult(result("c2")))).toEqual([output("c2")]);
  read(asks("c3"));
  read(completed);
  const create = { type: "response.create" } satisfies ResponseCreateEvent;
  expect(sent(codec.toolResult(result("c3")))).toEqual([output("c3"), create]);
  read(asks("c4"));
  expect(sent(codec.toolResult(result("c4")))).toEqual([output("c4")]);
  const [send] = read(completed);
  expect(send?.type === "send" && sent(send.messages)).toEqual([create]);
  expect(read(completed)).toEqual([]);
  expect(read({ type: "response.event", event_id: "e", event: { type: "response.done" } })).toEqual(
    [],
  );
});

test.each([
  ["expired", "session_limit"],
  ["close_requested", "agent_ended"],
  ["remote_hangup", "agent_ended"],
  ["content", "agent_refused"],
  ["connection_lost", "agent_lost"],
] as const)("a session that is closed, %s, ends the call: %s", (reason, end) => {
  const closed: ServerEvent = {
    type: "session.closed",
    event_id: "e",
    reason,
    session,
    usage: { seconds: 1 },
  };
  const errors = end === "agent_ended" ? [] : [{ type: "error", code: reason }];
  const usage = { type: "usage", seconds: 1, total: true };
  expect(codecOf().read(closed)).toEqual([usage, ...errors, { type: "end", reason: end }]);
});

test("a reason that is the name of a property of every object is none", () => {
  const closed = JSON.stringify({ type: "session.closed", reason: "constructor" });
  expect(codecOf().codec.decode(closed)).toEqual([{ type: "end", reason: "agent_ended" }]);
});

test("the backend is continued once, when none of its responses runs and all their calls are answered", () => {
  const { codec, read } = codecOf();
  const event = (delegation_id: string, event: Record<string, unknown>): ServerEvent => ({
    type: "response.event",
    event_id: "e",
    delegation_id,
    event,
  });
  const call = (call_id: string) => ({
    type: "response.output_item.done",
    item: { type: "function_call", call_id, name: "look_up", arguments: "{}" },
  });
  read(event("d1", call("c1")));
  read(event("d2", call("c2")));
  read(event("d1", { type: "response.completed" }));
  const result = { name: "look_up", output: "yes", isError: false, reply: true };
  expect(codec.toolResult({ id: "c1", ...result })).toHaveLength(1);
  expect(read(event("d2", { type: "response.completed" }))).toEqual([]);
  expect(codec.toolResult({ id: "c2", ...result })).toHaveLength(2);
  // Another response within the delegation doesn't hide an open call, and one that has failed has none.
  read(event("d1", call("c3")));
  read(event("d1", { type: "response.completed" }));
  read(event("d1", { type: "response.created" }));
  read(event("d1", call("c4")));
  expect(codec.toolResult({ id: "c3", ...result })).toHaveLength(1);
  read(event("d1", { type: "response.completed" }));
  read(event("d2", call("c5")));
  expect(read(event("d2", { type: "response.failed", response: {} }))).toHaveLength(1);
  expect(codec.toolResult({ id: "c4", ...result })).toHaveLength(2);
  read(event("d1", call("c6")));
  read(event("d1", { type: "response.completed" }));
  read(event("d2", call("c7")));
  expect(codec.toolResult({ id: "c6", ...result })).toHaveLength(1);
  const failed = read(event("d2", { type: "response.failed", response: {} }));
  expect(failed.map(({ type }) => type)).toEqual(["error", "send"]);
});

describe("a call of the backend", () => {
  const event = (event: Record<string, unknown>): ServerEvent => ({
    type: "response.event",
    event_id: "e",
    delegation_id: "d1",
    event,
  });
  const call = (item: object = {}) =>
    event({
      type: "response.output_item.done",
      item: { type: "function_call", call_id: "c1", name: "look_up", arguments: "{}", ...item },
    });

  test("that it has not finished is none", () => {
    const { read } = codecOf();
    expect(read(call({ status: "incomplete" }))).toEqual([]);
    expect(read(call({ status: "completed" }))).toHaveLength(1);
  });

  test("that repeats an id runs in another response, and not in its own", () => {
    const { codec, read } = codecOf();
    const result = { id: "c1", name: "look_up", output: "yes", isError: false, reply: true };
    for (const response of ["1", "2"]) {
      read(event({ type: "response.created" }));
      expect(read(call())).toEqual([expect.objectContaining({ type: "tool", id: "c1", response })]);
      expect(read(call())).toEqual([]);
      read(event({ type: "response.completed" }));
      expect(read(call())).toEqual([]);
      expect(codec.toolResult(result)).toHaveLength(2);
    }
  });
});

test("a response of the backend that failed is an error", () => {
  const failed = (code: string): ServerEvent => ({
    type: "response.event",
    event_id: "e",
    event: { type: "response.failed", response: { error: { code } } },
  });
  const { read } = codecOf();
  expect(read(failed("server_error"))).toEqual([{ type: "error", code: "server_error" }]);
});

test("of an error its word is reported; the session is closed in words", () => {
  const error = (code: string): ServerEvent => ({
    type: "error",
    event_id: "e",
    error: { type: "invalid_request_error", code, message: "sk-MARKED is wrong" },
  });
  const { codec, read } = codecOf();
  expect(read(error("unknown_parameter"))).toEqual([{ type: "error", code: "unknown_parameter" }]);
  expect(sent(codec.close?.() ?? [])).toEqual([
    { type: "session.close" } satisfies SessionCloseEvent,
  ]);
});

test("the key is in a header, and nowhere else", async () => {
  expect(await gptLive({ apiKey }).address()).toEqual({
    url: "wss://api.openai.com/v1/live/sessions",
    headers: { Authorization: "Bearer sk-MARKED" },
  });
});

test("what the application says is appended: to be spoken about, to be known, or to be followed", () => {
  const { codec } = codecOf();
  const rest = { content: "It rains.", delegation_id: null };
  expect(sent(codec.reply?.("It rains.", "a1") ?? [])).toEqual([
    { type: "session.commentary.append", ...rest } satisfies CommentaryAppendEvent,
  ]);
  expect(sent(codec.reply?.(undefined, "a1") ?? [])).toEqual([
    { type: "session.commentary.append", ...rest, content: "Continue." },
  ]);
  expect(sent(codec.addContext?.("It rains.") ?? [])).toEqual([
    { type: "session.thinking.append", ...rest } satisfies ThinkingAppendEvent,
  ]);
  expect(sent(codec.setInstructions?.("It rains.") ?? [])).toEqual([
    { type: "session.instructions.append", ...rest } satisfies InstructionsAppendEvent,
  ]);
  expect([codec.say, codec.cancel, codec.retry]).toEqual([undefined, undefined, undefined]);
});

test("what the service counts is read: its seconds so far, and the tokens of each response of the backend", () => {
  const { read } = codecOf();
  const usage = { seconds: 7 };
  expect(read({ type: "session.usage.updated", event_id: "e", usage })).toEqual([
    { type: "usage", seconds: 7, total: true },
  ]);
  const event = { type: "response.completed", response: { usage: { total_tokens: 90 } } };
  expect(read({ type: "response.event", event_id: "e", delegation_id: "d", event })).toEqual([
    { type: "usage", tokens: 90 },
  ]);
});
