import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deepgram } from "../../../../../src/agents/adapters/deepgram.ts";
import { openaiRealtime } from "../../../../../src/agents/adapters/openai-realtime/openai-realtime.ts";
import { plain, talking } from "../talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limits = { longest: 1000, silence: 30 };
const seconds = (s: number) => vi.advanceTimersByTimeAsync(s * 1000);
const speech = new Uint8Array(16_000).fill(77).buffer;

/** A talk in which both have said something, and nobody says more. */
const greeted = async (...[agent = plain(), more]: Partial<Parameters<typeof talking>>) => {
  const talk = await talking(agent, { ...limits, ...more });
  talk.mind.receive({ type: "ready" });
  talk.mind.receive(speech);
  talk.mind.receive({ type: "done", turn: "now" });
  await seconds(5);
  return talk;
};

test("a callee who says nothing is no silent agent, nor is a knock on the line, nor its noise", async () => {
  const { line, ends } = await greeted();
  for (let at = 0; at < 300; at++) {
    line.hear(at === 7 ? 9_000 : 100, 400);
    await seconds(0.4);
  }
  expect(ends).toEqual([]);
});

test("an agent that should begin and doesn't is silent, and one whom the callee greets isn't", async () => {
  const { mind, ends } = await talking(plain(), limits);
  mind.receive({ type: "ready" });
  await seconds(29);
  expect(ends).toEqual([]);
  await seconds(1.1);
  expect(ends).toEqual(["agent_silent"]);
  const other = await talking(openaiRealtime({ apiKey: "sk", greeting: false }), limits);
  other.mind.receive({ type: "session.updated" });
  const third = await talking(deepgram({ apiKey: "dg" }), limits);
  third.mind.receive({ type: "SettingsApplied" });
  await seconds(100);
  expect([other.ends, third.ends]).toEqual([[], []]);
});

test("an agent of which nothing comes after the callee has spoken is silent, from the last word on", async () => {
  const { line, ends } = await greeted();
  for (let at = 0; at < 100; at++) {
    line.hear(2_000, 400);
    await seconds(0.4);
  }
  expect(ends).toEqual([]);
  await seconds(31);
  expect(ends).toEqual(["agent_silent"]);
});

test("an agent that stops within an answer is silent", async () => {
  const { mind, ends } = await greeted();
  mind.receive(speech);
  await seconds(32);
  expect(ends).toEqual(["agent_silent"]);
});

test("a tool at work holds the clock, and its answer starts it", async () => {
  const run = () => new Promise((resolve) => setTimeout(resolve, 100_000, "found"));
  const tools = { t: { description: "", run } };
  const { mind, ends } = await greeted(plain({}, { tools }), { toolsWithin: 200 });
  mind.receive({ type: "tool", id: "1", name: "t" });
  await seconds(101);
  expect(ends).toEqual([]);
  await seconds(30);
  expect(ends).toEqual(["agent_silent"]);
});

test("an agent that can be asked whether it is there is asked first, and told by its answer", async () => {
  const { line, mind, ends } = await talking(
    openaiRealtime({ apiKey: "sk", greeting: false }),
    limits,
  );
  mind.receive({ type: "session.updated" });
  const noise = async () => {
    line.hear(5_000, 600);
    mind.sent.length = 0;
    await seconds(20);
    return mind.messages;
  };
  expect(await noise()).toEqual([{ type: "session.update", session: { type: "realtime" } }]);
  mind.receive({ type: "session.updated" });
  await seconds(100);
  expect(ends).toEqual([]);
  await noise();
  await seconds(15);
  expect(ends).toEqual(["agent_silent"]);
});
