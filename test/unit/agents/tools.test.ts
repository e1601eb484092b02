import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ToolContext, Tools } from "../../../src/agents/agent.ts";
import { runTool } from "../../../src/agents/tools.ts";
import { processClock } from "../../../src/lib/clock.ts";
import { start } from "../flows/media/start.ts";
import { noSession as about, plain, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tools: Tools = {
  echo: { description: "", run: (args) => args },
  nothing: { description: "", run: () => undefined },
  bad: {
    description: "",
    run: () => {
      throw new Error("MARKED");
    },
  },
  late: { description: "", run: () => new Promise(() => {}) },
  book: { description: "", parameters: { type: "object" }, run: (args) => args },
};

const { signal } = new AbortController();
const time = { ...processClock, isWaiting: () => false };
const use = (name: string, given?: unknown, stop = signal) =>
  runTool({ id: "1", name, arguments: given }, tools, 1_000, stop, about, time);

test.each([
  ["text in JSON", "echo", '{"a":1}', '{"a":1}'],
  ["a value", "echo", { a: 1 }, '{"a":1}'],
  ["arguments of a tool with parameters", "book", '{"a":1}', '{"a":1}'],
  ["a text in JSON, reported as it is", "echo", '"yes"', "yes"],
  ["no arguments", "echo", undefined, "{}"],
  ["empty ones", "echo", "", "{}"],
  ["a tool that gives nothing", "nothing", "{}", "Done."],
])("%s", async (_, name, given, output) => {
  expect(await use(name, given)).toEqual({
    output,
    isError: false,
  });
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ["there is no such tool", "none", "{}", "There is no such tool."],
  ["a name that every object has is no tool", "toString", "{}", "There is no such tool."],
  ["nor is this one", "__proto__", "{}", "There is no such tool."],
  ["arguments that aren't JSON", "echo", "{MARKED", "The arguments must be JSON."],
  ["no arguments of a tool with parameters", "book", "", "The arguments must be JSON."],
  ["nor any at all", "book", undefined, "The arguments must be JSON."],
  ["a tool that throws", "bad", "{}", "The tool failed."],
])("%s: the model hears so, and no more", async (_, name, given, output) => {
  const { error, ...result } = await use(name, given);
  expect(result).toMatchObject({ output, isError: true });
  expect(error).toBeInstanceOf(Error);
  if (name !== "bad") expect(String(error)).not.toContain("MARKED");
});

test("a tool that is late is waited for no longer, and reported to stop", async () => {
  const used = use("late");
  await vi.advanceTimersByTimeAsync(1_000);
  const { error, ...result } = await used;
  expect(result).toMatchObject({ output: "The tool took too long.", isError: true });
  expect(error).toMatchObject({ name: "TimeoutError" });
  expect(vi.getTimerCount()).toBe(0);
});

test("a tool hears that nobody waits any more", async () => {
  const gone = new AbortController();
  const stopped = vi.fn();
  const slow: Tools = {
    slow: {
      description: "",
      run: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", stopped);
        }),
    },
  };
  const call = { id: "1", name: "slow", arguments: "" };
  const used = runTool(call, slow, 1_000, gone.signal, about, time);
  await vi.advanceTimersByTimeAsync(1);
  gone.abort();
  await used;
  expect(stopped).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

test("a tool's own timeout takes the place of the session's, above and below it", async () => {
  const tools: Tools = Object.fromEntries(
    [500, 2_000].map((timeout) => [
      `t${timeout}`,
      { description: "", timeout, run: () => new Promise(() => {}) },
    ]),
  );
  for (const timeout of [500, 2_000]) {
    const call = { id: "1", name: `t${timeout}`, arguments: "" };
    const used = vi.fn();
    runTool(call, tools, 1_000, new AbortController().signal, about, time).then(used);
    await vi.advanceTimersByTimeAsync(timeout - 1);
    expect(used).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(used).toHaveBeenCalledWith(expect.objectContaining({ isError: true }));
  }
});

test("what a tool waits for its time to leave is no time of its own", async () => {
  let isWaiting = true;
  const used = vi.fn();
  const call = { id: "1", name: "late", arguments: "" };
  runTool(call, tools, 1_000, signal, about, { ...time, isWaiting: () => isWaiting }).then(used);
  await vi.advanceTimersByTimeAsync(2_999);
  isWaiting = false;
  expect(used).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(used).toHaveBeenCalledWith(expect.objectContaining({ isError: true }));
  expect(vi.getTimerCount()).toBe(0);
});

test("a tool has the session, the stream's start, the context and what was said, as it was played", async () => {
  const run = vi.fn((_args: unknown, _context: ToolContext) => "booked");
  const agent = plain({}, { tools: { book: { description: "Books.", run } } });
  const context = { order: 17 };
  const { mind, talk } = await talking(agent, { context });
  mind.receive({ type: "ready" });
  const say = (text: string, more: object = {}) =>
    mind.receive({ type: "transcript", who: "agent", text, final: true, item: "i1", ...more });
  say("Hello");
  say("Hello, I", { final: false });
  mind.receive({ type: "transcript", who: "callee", text: "Book it", final: true });
  mind.receive({ type: "tool", id: "1", name: "book", arguments: "{}" });
  const [, given] = run.mock.calls[0] ?? [];
  expect(given).toMatchObject({ context, start, signal: expect.any(AbortSignal) });
  expect(given?.session).toBe(talk);
  const textsOf = () => given?.transcripts.map(({ who, text }) => [who, text]);
  expect(textsOf()).toEqual([
    ["agent", "Hello"],
    ["callee", "Book it"],
  ]);
  say("Hel", { interrupted: true, replaces: true });
  expect(textsOf()).toEqual([
    ["agent", "Hel"],
    ["callee", "Book it"],
  ]);
  for (let at = 0; at < 600; at++) say(`${at}`, { item: `more ${at}` });
  expect(given?.transcripts).toHaveLength(500);
  talk.close();
});
