import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import type { Agent, Codec } from "../../../src/agents/agent.ts";
import { warmAgent } from "../../../src/agents/preconnect.ts";
import { AgentException } from "../../../src/agents/problems.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { plain, Socket, settled, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const boom = (): never => {
  throw new Error("MARKED");
};
const result = { type: "tool", id: "1", name: "t", arguments: "{}" };
const tools = (run: () => unknown) => ({ t: { description: "", run } });

/** All that isn't ours, and that may throw in a talk; an unhandled rejection fails the test's run. */
const codecs: Readonly<Record<string, Partial<Codec>>> = {
  open: { open: boom },
  answered: { answered: boom },
  encode: { encode: boom },
  interrupted: { interrupted: boom },
  tool_result: { toolResult: boom },
  "encode, which returns no messages": { encode: () => 7 as never },
};

describe("whatever an adapter throws ends the talk by name, with both sockets let go", () => {
  test.each(Object.entries(codecs))("%s", async (name, codec) => {
    const { line, mind, errors, ends } = await talking(plain(codec, { tools: tools(() => "ok") }));
    mind.receive({ type: "ready" });
    line.hear(1, 20);
    mind.receive({ type: "interrupted" });
    mind.receive(result);
    await settled();
    expect(ends).toEqual(["agent_failed"]);
    expect(errors).toEqual([expect.objectContaining({ problem: "agent_failed" })]);
    expect(Object(errors[0]).code).toBe(name.split(",")[0]);
    expect(String(errors[0])).not.toContain("MARKED");
    expect([line.readyState, mind.readyState, vi.getTimerCount()]).toEqual([3, 3, 0]);
  });

  test("codec itself, at once and not when patience is over", async () => {
    const agent = plain({}, { codec: boom });
    const { line, ends } = await talking(agent);
    expect([ends, line.readyState, vi.getTimerCount()]).toEqual([["agent_failed"], 3, 0]);
  });

  test.each([
    ["8 kHz of a kind that is none", { encoding: "opus", sampleRate: 8000 }],
    ["a rate for which a filter would be huge", { encoding: "pcm", sampleRate: 99_991 }],
    ["no rate", { encoding: "pcm", sampleRate: 0 }],
    ["nothing", undefined],
  ])("a format that can't be converted: %s", async (_, speaks) => {
    const hears = { encoding: "pcm", sampleRate: 8000 };
    const { mind, ends } = await talking(plain({ formats: { hears, speaks } as never }));
    mind.receive({ type: "ready" });
    expect([ends, mind.readyState]).toEqual([["agent_failed"], 3]);
  });

  test("close: the talk ends as it was to end", async () => {
    const { line, mind, ends, talk } = await talking(plain({ close: boom }), {
      maxDuration: 1_000,
    });
    mind.receive({ type: "ready" });
    await vi.advanceTimersByTimeAsync(1000);
    expect([ends, line.readyState, mind.readyState]).toEqual([["too_long"], 3, 3]);
    expect((await talk.ended).reason).toBe("too_long");
  });
});

describe("whatever a socket is, the talk ends and the process lives", () => {
  class Throwing extends Socket {
    override send = boom;
    override close = boom;
    override addEventListener = boom;
    override removeEventListener = boom;
  }
  const rubbish: Readonly<Record<string, () => unknown>> = {
    nothing: () => undefined,
    "an object": () => ({}),
    "a frozen object": () => Object.freeze({}),
    "one that throws": () => new Throwing(),
    "one whose readyState throws": () =>
      Object.defineProperty(new Socket(), "readyState", { get: boom }),
  };

  test.each(Object.entries(rubbish))("the agent's: %s", async (_, open) => {
    const { line, ends } = await talking(plain(), { open: open as never });
    expect([ends, line.readyState]).toEqual([["agent_unreachable"], 3]);
  });

  test("the agent's bufferedAmount throws", async () => {
    const { mind, ends } = await talking(plain({ encode: () => ["x"] }), {
      open: () => Object.defineProperty(new Socket(), "bufferedAmount", { get: boom }),
    });
    expect(ends).toEqual(["agent_lost"]);
    expect(mind.sent).toEqual([]);
  });

  test("the line's bufferedAmount throws", async () => {
    const line = Object.defineProperty(new Socket(), "bufferedAmount", { get: boom });
    const mind = new Socket();
    const talk = connectAgent(line, plain(), { open: () => mind });
    line.receive({ ...Object((await import("../flows/media/start.ts")).start) });
    await settled();
    mind.receive({ type: "ready" });
    mind.receive(new ArrayBuffer(16_000));
    mind.receive({ type: "interrupted" });
    await vi.advanceTimersByTimeAsync(1000);
    talk.close();
    expect((await talk.ended).reason).toBe("closed");
  });
});

test("an address is asked for as a method, as a codec is", async () => {
  class Own {
    readonly name = "own";
    readonly #url = "wss://agent.test/";
    readonly codec: Agent["codec"] = plain().codec;
    address() {
      return { url: this.#url };
    }
  }
  const { ends } = await talking(new Own());
  expect(ends).toEqual([]);
});

test("a key that comes once the talk is over opens no socket", async () => {
  const key = Promise.withResolvers<string>();
  const open = vi.fn(() => new Socket());
  const { talk } = await talking(openaiRealtime({ apiKey: () => key.promise }), { open });
  talk.close();
  key.resolve("sk-key");
  await settled();
  expect(open).not.toHaveBeenCalled();
});

test("what is no agent, no socket and no options is refused by name", () => {
  const line = new Socket();
  const call = connectAgent as (...given: unknown[]) => unknown;
  const warm = warmAgent as (...given: unknown[]) => unknown;
  for (const [param, make] of [
    ["agent", () => call(line, undefined)],
    ["agent", () => call(line, { agent: undefined })],
    ["agent", () => call(line, {})],
    ["socket", () => call(undefined, plain())],
    ["options", () => call(line, plain(), null)],
    ["maxDuration", () => call(line, plain(), { maxDuration: 10_000n })],
    ["chunkSize", () => call(line, plain(), { chunkSize: 0.01 })],
    ["agent", () => warm(undefined, { sampleRate: 8000 })],
    ["options", () => warm(plain(), undefined)],
    ["sampleRate", () => warm(plain(), { sampleRate: 44_100 })],
    ["timeout", () => warm(plain(), { sampleRate: 8000, timeout: Number.NaN })],
  ] as const) {
    expect(make).toThrow(
      expect.objectContaining({ name: "BadParametersException", param, placed: "no" }),
    );
  }
  expect([...line.listeners.values()].every(({ size }) => size === 0)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

describe("tools", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  test.each([
    ["of BigInt", { maximum: 10n }],
    ["with a cycle", cyclic],
  ])("parameters %s are refused where they are given", (_, parameters) => {
    const options = { apiKey: "sk", tools: { t: { description: "", parameters, run: () => 1 } } };
    expect(() => openaiRealtime(options)).toThrow(expect.objectContaining({ param: "tools" }));
  });

  test.each([
    ["throws what can't be looked at", () => boom.call(null), "The tool failed."],
    ["gives what is far too long", () => "\0".repeat(200_000), "The answer was too long."],
    ["gives what is no JSON", () => cyclic, "The tool failed."],
  ])("one that %s is passed to the model", async (_, run, output) => {
    const { mind, ends, errors } = await talking(plain({}, { tools: tools(run) }));
    mind.receive({ type: "ready" });
    mind.receive(result);
    await settled();
    expect(mind.messages).toEqual([{ id: "1", output }]);
    expect([ends, errors.length]).toEqual([[], 1]);
  });

  test("one that throws an object whose name throws is passed to the model", async () => {
    const run = () => {
      throw Object.defineProperty({}, "name", { get: boom });
    };
    const { mind } = await talking(plain({}, { tools: tools(run) }));
    mind.receive({ type: "ready" });
    mind.receive(result);
    await settled();
    expect(mind.messages).toEqual([{ id: "1", output: "The tool failed." }]);
  });
});

test("an event that is none is reported, and the talk goes on", async () => {
  const { mind, errors, ends } = await talking(plain());
  mind.receive({ type: "ready" });
  for (const event of [null, 7, { type: "audio" }, { type: "audio", audio: 7 }]) {
    mind.emit("message", { data: JSON.stringify(event) });
  }
  mind.receive({ type: "response_started", response: "x".repeat(2000) });
  expect(errors.length).toBeGreaterThanOrEqual(3);
  expect(errors.every((error) => error instanceof AgentException)).toBe(true);
  expect(ends).toEqual([]);
});
