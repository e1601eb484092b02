import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Tool, ToolContext } from "../../../src/agents/agent.ts";
import { levelOf } from "../../conformance/models/model.ts";
import { protocolNames } from "../../conformance/models/protocols.ts";
import { heardOf, speech, talkInTime } from "../../conformance/models/talk-in-time.ts";
import { carriers } from "../carriers/carriers.ts";
import { plain, talking } from "./talking.ts";

const lines = [
  { line: "outdial's own interface", service: undefined },
  ...carriers.map(({ name, service }) => ({ line: name, service })),
];

const context = { order: 17 };

/** A tool that says something while it books what the call is about. */
const bookingOf = () => {
  const orders: unknown[] = [];
  const run = vi.fn(async (args: unknown, { session, context, start }: ToolContext) => {
    const spoken = await session.reply("Say that it takes a moment.");
    orders.push([context.order, args, spoken, start.type]);
    return "Booked.";
  });
  return { orders, tools: { book: { description: "Books.", run } } };
};

describe.each(lines)("on $line", ({ service }) => {
  test.each(protocolNames)(
    "an agent with the protocol of %s books once what the call is about, and says all it has to say",
    async (name) => {
      const { orders, tools } = bookingOf();
      const talk = await talkInTime({
        name,
        service,
        tools,
        context,
        answers: [700, 900, 1_100],
        calls: { 0: { name: "book", args: { time: "nine" } } },
        caller: [
          { type: "silence", ms: 500 },
          { type: "say", voice: speech(800) },
          { type: "until-quiet", ms: 2_500 },
          { type: "hangup" },
        ],
      });
      expect(talk.errors).toEqual([]);
      expect(orders).toEqual([[17, { time: "nine" }, "played", "start"]]);
      expect(talk.end).toMatchObject({ reason: "hung_up", context });
      expect(talk.call.tools).toMatchObject([{ name: "book", isError: false }]);
      const heard = [0, 1, 2].map((answer) => heardOf(talk, levelOf(answer)));
      for (const [at, ms] of [700, 900, 1_100].entries()) {
        expect(Math.abs((heard[at]?.ms ?? 0) - ms)).toBeLessThanOrEqual(20);
        expect(heard[at]?.from).toBeGreaterThanOrEqual(heard[at - 1]?.until ?? 0);
      }
    },
  );
});

describe("a phrase while a tool is slow", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test.each([
    [1_000, []],
    [4_000, ["Say that it takes a moment."]],
  ])("is asked for after a while: a tool of %i ms", async (duration, phrases) => {
    const asked: string[] = [];
    const reply = (text = "") => {
      asked.push(text);
      return [];
    };
    const work = () => new Promise((resolve) => setTimeout(() => resolve("Booked."), duration));
    const book: Tool = {
      description: "Books.",
      // The three lines of docs/agents.md.
      run: async (_, { session }) => {
        const phrase = setTimeout(() => session.reply("Say that it takes a moment."), 1_500);
        return work().finally(() => clearTimeout(phrase));
      },
    };
    const { mind, talk } = await talking(plain({ reply }, { tools: { book } }));
    mind.receive({ type: "ready" });
    mind.receive({ type: "tool", id: "1", name: "book", arguments: "{}" });
    await vi.advanceTimersByTimeAsync(duration);
    expect(asked).toEqual(phrases);
    expect(mind.messages).toEqual([{ id: "1", output: "Booked." }]);
    talk.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
