import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Agent } from "../../../src/agents/agent.ts";
import { Meter } from "../../../src/agents/metrics.ts";
import { warmAgent } from "../../../src/agents/preconnect.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { processClock } from "../../../src/lib/clock.ts";
import { plain, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const socket = () =>
  Object.assign(new EventTarget(), { readyState: 1, send: vi.fn(), close: vi.fn() });

const receive = (at: EventTarget, message: object) =>
  at.dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify(message) }));

const ids = { account_id: "acc_1", call_id: "cs_1", stream_id: "st_1", message_id: 1 };
const data = { encoding: "audio/l16", sample_rate: 8000, channels: 1 };
const start = { type: "start", ...ids, data };

/** An agent that is ready, and asks for a tool, as soon as anything comes of it. */
const agentWith = (run: () => unknown): Agent => ({
  name: "agent",
  tools: { wait: { description: "", run } },
  address: () => ({ url: "wss://agent.test/" }),
  codec: ({ sampleRate }) => {
    const format = { encoding: "pcm", sampleRate } as const;
    return {
      formats: { input: format, output: format },
      open: () => [],
      answered: () => [],
      encode: () => [],
      decode: () => [{ type: "ready" }, { type: "tool", id: "1", name: "wait", arguments: "" }],
      interrupted: () => [],
      toolResult: ({ output }) => [output],
    };
  },
});

test("a talk that ends leaves no timer, and a tool that is in use leaves nothing either", async () => {
  const [line, mind] = [socket(), socket()];
  const run = vi.fn(() => new Promise(() => {}));
  const onError = vi.fn();
  const talk = connectAgent(line, agentWith(run), { open: () => mind, onError });
  receive(line, start);
  await vi.advanceTimersByTimeAsync(0);
  receive(mind, {});
  await vi.advanceTimersByTimeAsync(0);
  expect(run).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBeGreaterThan(0);
  talk.close();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([mind.send.mock.calls, onError.mock.calls]).toEqual([[], []]);
});

test("a warm agent is taken by the first call, and another connects for itself", async () => {
  const open = vi.fn(socket);
  const warm = warmAgent(
    agentWith(() => ""),
    { sampleRate: 8000, open },
  );
  await vi.advanceTimersByTimeAsync(0);
  for (const opened of [1, 2]) {
    const line = socket();
    const talk = connectAgent(line, warm, { open });
    receive(line, start);
    await vi.advanceTimersByTimeAsync(0);
    expect(open).toHaveBeenCalledTimes(opened);
    if (opened === 2) talk.close();
  }
});

test("a message is late when the line had fallen silent before it", () => {
  const meter = new Meter(processClock);
  for (const late of [0, 40, 15]) meter.sent(late);
  expect(meter.metrics.messages).toEqual({ sent: 3, late: 2, latest: 40 });
});

test("nothing follows the end: not even the cut of an interruption that the agent could not be notified of", async () => {
  const calls: string[] = [];
  const { mind, ends } = await talking(plain({ interrupted: () => ["cut"] }), {
    onInterrupted: () => calls.push("interrupted"),
    onTranscript: () => calls.push("transcript"),
  });
  mind.receive({ type: "ready" });
  mind.receive(new Int16Array(16_000).fill(9_000).buffer);
  mind.send = () => {
    throw new Error("gone");
  };
  mind.receive({ type: "interrupted" });
  await vi.advanceTimersByTimeAsync(0);
  expect([ends, calls]).toEqual([["agent_lost"], []]);
});
