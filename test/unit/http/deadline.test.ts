import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pause, withDeadline } from "../../../src/http/deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const late = () => new Error("late");
const never = () => new Promise<never>(() => {});

test("gives what the work gives, and leaves no timer", async () => {
  expect(await withDeadline(1_000, undefined, late, async () => 1)).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("rejects as the work rejects, and leaves no timer", async () => {
  await expect(withDeadline(1_000, undefined, late, () => Promise.reject("no"))).rejects.toBe("no");
  expect(vi.getTimerCount()).toBe(0);
});

test("rejects when the time is up, aborts the work, and takes no later end", async () => {
  let signal: AbortSignal | undefined;
  const ended = withDeadline(1_000, undefined, late, (own) => {
    signal = own;
    return never();
  });
  const rejected = expect(ended).rejects.toThrow("late");
  expect(signal?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  await rejected;
  expect(signal?.aborted).toBe(true);
});

test("sets no timer without a deadline", () => {
  withDeadline(false, undefined, late, never);
  expect(vi.getTimerCount()).toBe(0);
});

test("rejects with the caller's reason, and leaves no timer and no listener", async () => {
  const controller = new AbortController();
  const ended = withDeadline(1_000, controller.signal, late, never);
  controller.abort("enough");
  await expect(ended).rejects.toBe("enough");
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("does no work for a caller who has already gone", async () => {
  const work = vi.fn(never);
  await expect(withDeadline(1_000, AbortSignal.abort("gone"), late, work)).rejects.toBe("gone");
  expect(work).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test("a pause ends by itself, and leaves no timer when it is aborted", async () => {
  const controller = new AbortController();
  const ended = vi.fn();
  pause(100, controller.signal).then(ended);
  await vi.advanceTimersByTimeAsync(100);
  expect(ended).toHaveBeenCalledOnce();
  pause(100, controller.signal);
  controller.abort();
  expect(vi.getTimerCount()).toBe(0);
});

test("requireOpen throws nothing while somebody waits, and throws before the promise settles", async () => {
  const controller = new AbortController();
  for (const [timeout, caller] of [
    [1_000, undefined],
    [false, controller.signal],
  ] as const) {
    let ask = () => {};
    const ended = withDeadline(timeout, caller, late, (signal, requireOpen) => {
      requireOpen();
      ask = requireOpen;
      signal.addEventListener("abort", () => expect(requireOpen).toThrow());
      return never();
    });
    const rejected = expect(ended).rejects.toBeDefined();
    if (caller) controller.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    await rejected;
    expect(ask).toThrow("over");
  }
});

test("a signal of any make can't keep the work from its end", async () => {
  const no = () => {
    throw new Error("no");
  };
  for (const hostile of [
    { aborted: false, addEventListener: () => {}, removeEventListener: no },
    { aborted: false, addEventListener: no, removeEventListener: no },
    { addEventListener: () => {}, removeEventListener: () => {} },
    Object.defineProperty({ addEventListener: no, removeEventListener: no }, "aborted", {
      get: no,
    }),
  ]) {
    const signal = hostile as never;
    expect(await withDeadline(1_000, signal, late, async () => 1)).toBe(1);
    const rejected = expect(withDeadline(1_000, signal, late, never)).rejects.toThrow("late");
    await vi.advanceTimersByTimeAsync(1_000);
    await rejected;
    expect(vi.getTimerCount()).toBe(0);
  }
});

test("requireOpen throws by the clock too, when a thread was held up and the timer could not fire", async () => {
  let sent = 0;
  const ended = withDeadline(1_000, undefined, late, async (_, requireOpen) => {
    // Time passes, and no timer gets its turn.
    vi.setSystemTime(Date.now() + 5_000);
    vi.spyOn(performance, "now").mockReturnValue(performance.now() + 5_000);
    requireOpen();
    sent++;
  });
  await expect(ended).rejects.toThrow("late");
  expect(sent).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
  vi.restoreAllMocks();
});
