import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Agent, Codec } from "../../../src/agents/agent.ts";
import type { EndReason } from "../../../src/agents/agent-session.ts";
import type { SessionOptions } from "../../../src/agents/options.ts";
import { warmAgent } from "../../../src/agents/preconnect.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { simulateCall } from "../../../src/testing/simulate-call.ts";
import { carriers } from "../carriers/carriers.ts";
import { start } from "../flows/media/start.ts";
import { plain, Socket, settled } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const seconds = (s: number) => vi.advanceTimersByTimeAsync(s * 1000);
const audio = (level: number) => new Int16Array(8_000).fill(level).buffer;

/** A call on several agents, each with a socket of its own. */
const onSeveral = async (
  count: number,
  options: SessionOptions = {},
  more: Partial<Codec> = {},
  rest: (at: number) => Partial<Agent> = () => ({}),
) => {
  const line = new Socket();
  const minds = Array.from({ length: count }, () => new Socket());
  const events: string[] = [];
  const errors: unknown[] = [];
  const ends: EndReason[] = [];
  for (const [at, mind] of minds.entries()) {
    const close = mind.close.bind(mind);
    mind.close = (...how) => {
      events.push(`${at} closed`);
      close(...how);
    };
  }
  const agents = minds.map((mind, at) =>
    plain(more, {
      name: `agent ${at}`,
      open: () => {
        events.push(`${at} opened`);
        return mind;
      },
      ...rest(at),
    }),
  );
  const session = connectAgent(line, agents, {
    onError: (error) => errors.push(error),
    onEnd: ({ reason }) => ends.push(reason),
    ...options,
  });
  line.receive(start);
  await settled();
  return { line, minds, events, errors, ends, session, agents };
};

describe("the next agent of a list takes over, once the socket of the one before is closed,", () => {
  const switched = ["0 opened", "0 closed", "1 opened"];

  test("from one that refuses", async () => {
    const { minds, events, ends, line, errors } = await onSeveral(2);
    minds[0]?.receive({ type: "error", code: "invalid_api_key" });
    await settled();
    expect(events).toEqual(switched);
    minds[1]?.receive({ type: "ready" });
    minds[1]?.receive(audio(5_000));
    await seconds(1);
    expect([line.ms, ends]).toEqual([1_000, []]);
    expect(errors).toEqual([expect.objectContaining({ code: "invalid_api_key" })]);
  });

  test.each([1000, 1006, 1011])(
    "from one whose socket closes with %i before it is ready",
    async (code) => {
      const { minds, events, ends, line } = await onSeveral(2);
      minds[0]?.emit("close", { code });
      await settled();
      minds[1]?.receive({ type: "ready" });
      minds[1]?.receive(audio(5_000));
      await seconds(1);
      expect([events, ends, line.ms]).toEqual([switched, [], 1_000]);
    },
  );

  test("from one that is ready, and then refuses", async () => {
    const { minds, events, ends } = await onSeveral(2);
    minds[0]?.receive({ type: "ready" });
    minds[0]?.receive(audio(0)); // Silence isn't heard.
    minds[0]?.emit("close", { code: 1008, reason: "" });
    await settled();
    expect(events).toEqual(switched);
    minds[1]?.receive({ type: "ready" });
    await seconds(29);
    expect(ends).toEqual([]);
    await seconds(1);
    expect(ends).toEqual(["agent_silent"]); // Its own 30 s.
  });

  test("from one that can't be reached", async () => {
    const unreachable = {
      open: () => {
        throw new Error("no such host");
      },
    };
    const { events, minds, ends } = await onSeveral(2, {}, {}, (at) => (at ? {} : unreachable));
    await settled();
    expect(events).toEqual(["1 opened"]);
    minds[1]?.receive({ type: "ready" });
    await seconds(5);
    expect(ends).toEqual([]);
  });

  test.each([
    [4_000, {}],
    [1_500, { agentTimeout: 1_500 }],
  ])("from one that isn't ready within %i ms, which each one has", async (timeout, options) => {
    const { events, ends } = await onSeveral(3, options);
    for (const at of [0, 1, 2]) {
      await vi.advanceTimersByTimeAsync(timeout - 1);
      expect(events.at(-1)).toBe(`${at} opened`);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(events).toEqual([0, 1, 2].flatMap((at) => [`${at} opened`, `${at} closed`]));
    expect(ends).toEqual(["agent_slow"]);
  });

  test("and gets what the callee has said so far, and has its own tools", async () => {
    const run = vi.fn(() => "yes");
    const encode = vi.fn((bytes: Uint8Array<ArrayBuffer>) => [bytes]);
    const tools = (at: number) => ({ tools: { [`t${at}`]: { description: "", run } } });
    const { line, minds } = await onSeveral(2, {}, { encode }, tools);
    line.hear(3_000, 500);
    minds[0]?.receive({ type: "error", code: "invalid_api_key" });
    line.hear(3_000, 500);
    await settled();
    expect(encode).not.toHaveBeenCalled();
    minds[1]?.receive({ type: "ready" });
    const bytes = encode.mock.calls.reduce((sum, [each]) => sum + each.length, 0);
    expect(bytes / 16).toBe(1_000);
    for (const name of ["t0", "t1"]) {
      minds[1]?.receive({ type: "tool", id: name, name, arguments: "{}" });
    }
    await settled();
    expect(minds[1]?.messages).toEqual([
      { id: "t0", output: "There is no such tool." },
      { id: "t1", output: "yes" },
    ]);
    expect(run).toHaveBeenCalledOnce();
  });

  test("and gets what the callee says until it is ready, and its own time", async () => {
    const encode = vi.fn((bytes: Uint8Array<ArrayBuffer>) => [bytes]);
    const { line, minds, ends } = await onSeveral(2, { silenceTimeout: 1_000 }, { encode });
    minds[0]?.receive({ type: "ready" });
    minds[0]?.receive({ type: "error", code: "invalid_api_key" });
    line.hear(3_000, 500);
    await seconds(3);
    expect([encode.mock.calls, ends]).toEqual([[], []]);
    minds[1]?.receive({ type: "ready" });
    expect(encode).toHaveBeenCalledOnce();
    await seconds(1);
    expect(ends).toEqual(["agent_silent"]);
  });

  test("and what comes late of the one before is dropped", async () => {
    const refusal = { type: "error", code: "invalid_api_key" } as const;
    const decode: Codec["decode"] = (frame) =>
      typeof frame === "string" && frame.includes("refuse")
        ? [refusal, { type: "end", reason: "session_limit" }]
        : [{ type: "ready" }];
    const { minds, events, ends } = await onSeveral(2, {}, { decode });
    minds[0]?.receive({ refuse: true });
    minds[0]?.receive({ refuse: true });
    await settled();
    expect([events, ends]).toEqual([switched, []]);
  });

  test("also from a warm one, which is closed", async () => {
    const [line, cold, warm] = [new Socket(), new Socket(), new Socket()];
    const first = warmAgent(plain(), { sampleRate: 8000, open: () => warm });
    await settled();
    connectAgent(line, [first, plain({}, { open: () => cold })], { onError: () => {} });
    line.receive(start);
    warm.receive({ type: "error", code: "invalid_api_key" });
    await settled();
    expect(warm.closed).toBeDefined();
    cold.receive({ type: "ready" });
    cold.receive(audio(5_000));
    await seconds(1);
    expect(line.ms).toBe(1_000);
  });
});

test("a warm one that was not needed is closed with the call", async () => {
  const [line, spare] = [new Socket(), new Socket()];
  const warm = warmAgent(plain(), { sampleRate: 8000, open: () => spare });
  await settled();
  const session = connectAgent(line, [plain({}, { open: () => new Socket() }), warm]);
  line.receive(start);
  await settled();
  session.close();
  expect(spare.closed).toBeDefined();
  expect(vi.getTimerCount()).toBe(0);
});

describe("no other agent takes over, and nothing is done twice,", () => {
  test.each<[string, readonly (object | ArrayBuffer)[]]>([
    ["once it was heard", [{ type: "ready" }, audio(5_000)]],
    ["once it has called a tool", [{ type: "ready" }, { type: "tool", id: "1", name: "book" }]],
  ])("%s", async (_, messages) => {
    const run = vi.fn(() => "booked");
    const tools = () => ({ tools: { book: { description: "Books.", run } } });
    const { minds, events, ends } = await onSeveral(2, {}, {}, tools);
    for (const message of messages) minds[0]?.receive(message);
    await settled();
    minds[0]?.receive({ type: "error", code: "invalid_api_key" });
    await settled();
    expect([events, ends]).toEqual([["0 opened", "0 closed"], ["agent_refused"]]);
    expect(run.mock.calls.length).toBeLessThanOrEqual(1);
  });

  test("when the connection of one that is ready is lost", async () => {
    const { minds, events, ends } = await onSeveral(2);
    minds[0]?.receive({ type: "ready" });
    minds[0]?.emit("close", { code: 1006 });
    await settled();
    expect([events, ends]).toEqual([["0 opened", "0 closed"], ["agent_lost"]]);
  });

  test("when the callee has hung up", async () => {
    const { line, minds, events, ends } = await onSeveral(2);
    line.emit("close", { code: 1000 });
    minds[0]?.receive({ type: "error", code: "invalid_api_key" });
    await seconds(10);
    expect([events, ends]).toEqual([["0 opened", "0 closed"], ["hung_up"]]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("the last of a list ends the call with its reason, and nothing is left", async () => {
  const { minds, ends, line, events } = await onSeveral(2);
  for (const mind of minds) {
    mind.receive({ type: "error", code: "invalid_api_key" });
    await settled();
  }
  expect([events.at(-1), ends]).toEqual(["1 closed", ["agent_refused"]]);
  for (const socket of [line, ...minds]) {
    expect([...socket.listeners.values()].map(({ size }) => size).filter(Boolean)).toEqual([]);
  }
  expect(vi.getTimerCount()).toBe(0);
});

test("the opening is said once, and what was asked of one that refuses is asked of the next", async () => {
  const asked: string[] = [];
  const reply: Codec["reply"] = (text = "") => {
    asked.push(text);
    return [];
  };
  const opening = { audio: new Int16Array(8_000).fill(5_000), sampleRate: 8_000 };
  const { minds, session, line } = await onSeveral(2, { opening }, { reply });
  minds[0]?.receive({ type: "ready" });
  const spoken = session.reply("Ask.");
  await seconds(2);
  expect(asked).toEqual(["Ask."]);
  minds[0]?.receive({ type: "error", code: "invalid_api_key" });
  await settled();
  minds[1]?.receive({ type: "ready" });
  await seconds(1);
  expect(asked).toEqual(["Ask.", "Ask."]);
  minds[1]?.receive(audio(5_000));
  minds[1]?.receive({ type: "response_done", response: "now" });
  await seconds(3);
  expect(await spoken).toBe("played");
  expect(line.ms).toBe(2_000);
});

test("an empty list is refused, and so is one of anything else", () => {
  for (const [agents, rule] of [
    [[], "is an empty list"],
    [[plain(), "MARKED"], "must be"],
  ] as const) {
    const start = () => connectAgent(new Socket(), agents as never);
    expect(start).toThrow(expect.objectContaining({ name: "BadParametersException" }));
    expect(start).toThrow(rule);
    expect(start).not.toThrow("MARKED");
  }
});

test("an opening by text needs agents of which each says texts word for word", () => {
  const opening = { text: "I am a machine." };
  const says = plain({ say: (text) => [text] });
  const line = new Socket();
  connectAgent(line, [says, says], { opening }).close();
  expect(() => connectAgent(new Socket(), [says, plain()], { opening })).toThrow(
    expect.objectContaining({ name: "BadParametersException", param: "opening" }),
  );
});

test.each(carriers)(
  "the callee hears the second agent within its time, and all of it, on the line of $name",
  async ({ service }) => {
    const asleep = plain({}, { open: () => new Socket() });
    const awake = scriptedAgent([{ ms: 1_000 }]);
    vi.useRealTimers();
    const call = await simulateCall({
      service,
      app: (socket, options) => connectAgent(socket, [asleep, awake], options),
      caller: [{ type: "until-quiet", ms: 1_000, timeout: 6_000 }, { type: "hangup" }],
    });
    expect(call.end.session).toBe("hung_up");
    expect(Math.abs((call.firstAudio.min ?? Number.NaN) - 4_000)).toBeLessThanOrEqual(100);
    const samples = call.audio.samples("application").filter(Boolean).length;
    expect(samples / call.audio.sample_rate).toBeGreaterThan(0.97);
  },
);
