import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Agent, Connect, Line } from "../../examples/bridge/agent.ts";
import { relay } from "../../examples/bridge/relay.ts";
import { TestSocket } from "./line.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const relayed = (connect: Connect) => {
  const socket = new TestSocket();
  const problems: string[] = [];
  const errors: unknown[] = [];
  relay(socket, {
    connect,
    context: { id: "cb_1" },
    agentWithin: 5_000,
    longest: 600_000,
    onProblem: (problem) => problems.push(problem),
    onError: (error) => errors.push(error),
  });
  return { socket, problems, errors };
};

/** Nothing may be left of a call: no timer, and no listener on its socket. */
const nothingIsLeft = (socket: TestSocket): void => {
  expect(vi.getTimerCount()).toBe(0);
  expect([...socket.listeners.values()].map(({ size }) => size)).toEqual([0, 0, 0]);
};

const deaf: Agent = { hear: () => {} };

test("a service that says nothing is let go after ten seconds", async () => {
  const { socket, problems } = relayed(() => deaf);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(socket.closed).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(socket.closed).toBe(1011);
  expect(problems).toEqual(["no_start"]);
  nothingIsLeft(socket);
});

test("an agent that doesn't come ends the call, and coming later it is told that nobody is there", async () => {
  const lines: Line[] = [];
  const { socket, problems } = relayed((line) => {
    lines.push(line);
    return new Promise<Agent>(() => {});
  });
  socket.start();
  await vi.advanceTimersByTimeAsync(4_999);
  expect(lines[0]?.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(lines[0]?.signal.aborted).toBe(true);
  expect(socket.closed).toBe(1011);
  expect(problems).toEqual(["agent_slow"]);
  nothingIsLeft(socket);
});

test("an agent that fails ends the call", async () => {
  const down = new Error("down");
  const { socket, problems, errors } = relayed(async () => {
    throw down;
  });
  socket.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(socket.closed).toBe(1011);
  expect(problems).toEqual(["agent_down"]);
  expect(errors).toEqual([down]);
  nothingIsLeft(socket);
});

test("what the person says before the agent is there is heard by it, in order", async () => {
  let come = (_: Agent): void => {};
  const heard: number[] = [];
  const { socket } = relayed(() => new Promise((resolve) => (come = resolve)));
  socket.start();
  for (const value of [1, 2]) socket.hears(new Int16Array(80).fill(value));
  come({ hear: ({ bytes }) => heard.push(Number(bytes[0])) });
  await vi.advanceTimersByTimeAsync(0);
  socket.hears(new Int16Array(80).fill(3));
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual([1, 2, 3]);
  socket.happen("close", { code: 1000 });
  nothingIsLeft(socket);
});

test("the person who hangs up aborts the line, and is no problem", async () => {
  const lines: Line[] = [];
  const { socket, problems, errors } = relayed((line) => {
    lines.push(line);
    return deaf;
  });
  socket.start();
  await vi.advanceTimersByTimeAsync(0);
  socket.happen("close", { code: 1000 });
  expect(lines[0]?.signal.aborted).toBe(true);
  expect([problems, errors]).toEqual([[], []]);
  nothingIsLeft(socket);
});

test("an agent that throws at what it hears is reported, and the call goes on", async () => {
  const { socket, errors } = relayed(() => ({
    hear: () => {
      throw new Error("deaf");
    },
  }));
  socket.start();
  await vi.advanceTimersByTimeAsync(0);
  socket.hears(new Int16Array(80));
  await vi.advanceTimersByTimeAsync(0);
  expect(errors).toHaveLength(1);
  expect(socket.closed).toBeUndefined();
});

test("a call that goes on for ten minutes is ended", async () => {
  const { socket, problems } = relayed(() => deaf);
  socket.start();
  await vi.advanceTimersByTimeAsync(599_999);
  expect(socket.closed).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(socket.closed).toBe(1011);
  expect(problems).toEqual(["too_long"]);
  nothingIsLeft(socket);
});
