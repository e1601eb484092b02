import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Agent } from "../../../src/agents/agent.ts";
import { Connection } from "../../../src/agents/connection.ts";
import type { AgentSocket } from "../../../src/agents/open-socket.ts";
import { processClock } from "../../../src/lib/clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The agent's socket, open, whose other end is the test. */
class Mind extends EventTarget implements AgentSocket {
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: unknown[] = [];
  readonly closed = vi.fn();

  send(message: unknown): void {
    this.sent.push(message);
  }

  close(code?: number): void {
    this.readyState = 3;
    this.closed(code);
  }

  receive(data: unknown): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }
}

const agent: Agent = {
  name: "agent",
  address: () => ({ url: "wss://agent.test/" }),
  codec: ({ sampleRate }) => {
    const format = { encoding: "pcm", sampleRate } as const;
    return {
      formats: { input: format, output: format },
      keepAlive: { after: 8_000, message: "alive" },
      open: () => ["open"],
      answered: () => [],
      encode: (audio) => [audio],
      decode: (frame) => [{ type: frame === "ready" ? "ready" : "interrupted" }],
      interrupted: () => [],
      toolResult: () => [],
    };
  },
};

const linked = async () => {
  const mind = new Mind();
  const link = new Connection(agent, { sampleRate: 8000 }, () => mind, processClock);
  const reported = { onEvent: vi.fn(), onMessage: vi.fn(), onError: vi.fn(), onEnd: vi.fn() };
  link.listen(reported);
  await vi.advanceTimersByTimeAsync(0);
  return { mind, link, reported };
};

test("trap: who says nothing for eight seconds says that they are there, and again", async () => {
  const { mind, link } = await linked();
  await vi.advanceTimersByTimeAsync(4_000);
  mind.receive("ready");
  await vi.advanceTimersByTimeAsync(3_999);
  expect(mind.sent).toEqual(["open"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(mind.sent).toEqual(["open", "alive"]);
  await vi.advanceTimersByTimeAsync(5_000);
  link.send("encode", () => ["word"]);
  await vi.advanceTimersByTimeAsync(7_999);
  expect(mind.sent).toEqual(["open", "alive", "word"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(mind.sent.slice(3)).toEqual(["alive"]);
  link.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(mind.sent).toHaveLength(4);
  expect(vi.getTimerCount()).toBe(0);
});

test("a message that is longer than any is reported, and not read", async () => {
  const { mind, reported } = await linked();
  mind.receive("x".repeat(2 ** 23));
  expect([reported.onEvent.mock.calls.length, reported.onError.mock.calls.length]).toEqual([1, 0]);
  mind.receive("x".repeat(2 ** 23 + 1));
  mind.receive(new ArrayBuffer(2 ** 23 + 1));
  expect(reported.onEvent).toHaveBeenCalledOnce();
  expect(reported.onError.mock.calls.map(([error]) => error.problem)).toEqual([
    "agent_malformed",
    "agent_malformed",
  ]);
});

test("more than two mebibytes that wait for the network are an agent that is stalled", async () => {
  const { mind, link, reported } = await linked();
  mind.bufferedAmount = 2 ** 21;
  link.send("encode", () => ["word"]);
  expect(reported.onEnd).not.toHaveBeenCalled();
  mind.bufferedAmount = 2 ** 21 + 1;
  link.send("encode", () => ["word"]);
  expect(reported.onEnd).toHaveBeenCalledExactlyOnceWith("agent_stalled");
  expect(mind.closed).toHaveBeenCalledExactlyOnceWith(1000);
  expect(vi.getTimerCount()).toBe(0);
});

test("a link that is let go while its socket opens lets go of the socket, at whatever moment", async () => {
  for (let turns = 0; turns < 20; turns++) {
    const mind = new Mind();
    const open = vi.fn(() => mind);
    const link = new Connection(agent, { sampleRate: 8000 }, open, processClock);
    for (let turn = 0; turn < turns; turn++) await undefined;
    link.close();
    await vi.advanceTimersByTimeAsync(0);
    expect([turns, mind.sent.includes("alive")]).toEqual([turns, false]);
    expect(mind.closed.mock.calls.length > 0).toBe(open.mock.calls.length > 0);
    expect(vi.getTimerCount()).toBe(0);
  }
});
