import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Tools } from "../../../src/agents/agent.ts";
import { runTool } from "../../../src/agents/tools.ts";
import { noSession as about } from "./talking.ts";

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
const use = (name: string, given?: unknown, stop = signal) =>
  runTool({ id: "1", name, arguments: given }, tools, 1_000, stop, about);

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
  const used = runTool({ id: "1", name: "slow", arguments: "" }, slow, 1_000, gone.signal, about);
  await vi.advanceTimersByTimeAsync(1);
  gone.abort();
  await used;
  expect(stopped).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});
