import type {
  CommentaryAppendEvent,
  InputAudioAppendEvent,
  ResponseCreateEvent,
  ResponseItemCreateEvent,
  ServerEvent,
  SessionCloseEvent,
  SessionResource,
  SessionStartEvent,
} from "openai/resources/live/live";
import { expect, test } from "vitest";
import { type GptLiveOptions, gptLive } from "../../../../src/agents/adapters/gpt-live.ts";
import type { Frame } from "../../../../src/agents/agent.ts";

const apiKey = "sk-MARKED";
const codecOf = (options: Partial<GptLiveOptions> = {}, sample_rate: 8000 | 16000 = 8000) => {
  const codec = gptLive({ apiKey, ...options }).codec({ sample_rate });
  return { codec, read: (event: ServerEvent) => codec.read(JSON.stringify(event)) };
};
const sent = (frames: readonly Frame[]) => frames.map((frame) => JSON.parse(String(frame)));
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
    expect(codec.formats?.hears.sample_rate).toBe(rate);
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

test("it is ready once started, and told how to begin", () => {
  const started: ServerEvent = { type: "session.started", event_id: "e", session };
  expect(codecOf().read(started)).toEqual([{ type: "ready" }]);
  const [ready, send] = codecOf({ greeting: "Hello!" }).read(started);
  expect(ready).toEqual({ type: "ready" });
  expect(send?.type === "send" && sent(send.frames)).toEqual([
    {
      type: "session.commentary.append",
      content: "Begin the call with: Hello!",
      delegation_id: null,
    } satisfies CommentaryAppendEvent,
  ]);
});

test("audio and words go both ways, and an interruption needs nothing", () => {
  const { codec, read } = codecOf();
  expect(sent(codec.hear(new Uint8Array([1, 2, 3])))).toEqual([
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
  expect(codec.interrupted([{ item: "", heard: 1, of: 2 }])).toEqual([]);
});

test("tools are used by way of the model that it asks", () => {
  const { codec, read } = codecOf();
  const asks = (call_id: string): ServerEvent => ({
    type: "response.event",
    event_id: "e",
    event: {
      type: "response.output_item.done",
      item: { type: "function_call", call_id, name: "look_up", arguments: "{}" },
    },
  });
  expect(read(asks("c1"))).toEqual([{ type: "tool", id: "c1", name: "look_up", arguments: "{}" }]);
  read(asks("c2"));
  const result = (id: string) =>
    ({ id, name: "look_up", output: "yes", isError: false, reply: true }) as const;
  const output = (call_id: string) =>
    ({
      type: "response.item.create",
      item: { type: "function_call_output", call_id, output: "yes" },
    }) satisfies ResponseItemCreateEvent;
  expect(sent(codec.toolResult(result("c1")))).toEqual([output("c1")]);
  expect(sent(codec.toolResult(result("c2")))).toEqual([
    output("c2"),
    { type: "response.create" } satisfies ResponseCreateEvent,
  ]);
  expect(read({ type: "response.event", event_id: "e", event: { type: "response.done" } })).toEqual(
    [],
  );
});

test.each([
  ["expired", "session_limit"],
  ["close_requested", "agent_ended"],
  ["content", "agent_ended"],
] as const)("a session that is closed, %s, ends the call: %s", (reason, end) => {
  const closed: ServerEvent = {
    type: "session.closed",
    event_id: "e",
    reason,
    session,
    usage: { seconds: 1 },
  };
  expect(codecOf().read(closed)).toEqual([{ type: "end", reason: end }]);
});

test("of an error its word is told; the session is closed in words", () => {
  const error = (code: string): ServerEvent => ({
    type: "error",
    event_id: "e",
    error: { type: "invalid_request_error", code, message: "sk-MARKED is wrong" },
  });
  const { codec, read } = codecOf();
  expect(read(error("unknown_parameter"))).toEqual([{ type: "error", code: "unknown_parameter" }]);
  expect(read(error("invalid_api_key"))[1]).toEqual({ type: "end", reason: "agent_refused" });
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
