import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchedBody } from "../../../src/calls/watched-body.ts";
import { redactor } from "../../../src/http/redact.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const silence = 30_000;
const byte = Uint8Array.of(1);

/** A body that a test feeds, watched. */
const start = (signal?: AbortSignal) => {
  let controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  const cancelled = vi.fn();
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (given) => {
      controller = given;
    },
    cancel: cancelled,
  });
  const redaction = () => redactor(["the-secret-key"], []);
  const reader = watchedBody(source, { signal, redaction }).getReader();
  const feed = {
    send: (bytes: Uint8Array<ArrayBuffer>) => controller?.enqueue(bytes),
    end: () => controller?.close(),
    fail: (error: unknown) => controller?.error(error),
  };
  return { reader, cancelled, ...feed };
};

const listeners = ({ signal }: AbortController) => getEventListeners(signal, "abort");

test("a body gives its bytes and its end, and leaves no timer and no listener", async () => {
  const controller = new AbortController();
  const { reader, send, end } = start(controller.signal);
  send(byte);
  expect(await reader.read()).toEqual({ value: byte, done: false });
  end();
  expect((await reader.read()).done).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  expect(listeners(controller)).toEqual([]);
});

test("a body that nobody reads has no timer, and asks for nothing", async () => {
  const pull = vi.fn();
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({ pull }, { highWaterMark: 0 });
  watchedBody(source, { signal: undefined, redaction: () => redactor([], []) });
  await vi.advanceTimersByTimeAsync(10 * silence);
  expect(vi.getTimerCount()).toBe(0);
  expect(pull).not.toHaveBeenCalled();
});

test("30 s without a byte end it, and its connection", async () => {
  const controller = new AbortController();
  const { reader, cancelled } = start(controller.signal);
  const ended = expect(reader.read()).rejects.toMatchObject({
    name: "TimeoutException",
    message: "No byte of the recording within 30000 ms",
  });
  await vi.advanceTimersByTimeAsync(silence - 1);
  expect(cancelled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await ended;
  expect(cancelled).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
  expect(listeners(controller)).toEqual([]);
});

test("each byte begins the 30 s anew, a chunk without one does not", async () => {
  const { reader, send } = start();
  for (const _ of [1, 2]) {
    const read = reader.read();
    await vi.advanceTimersByTimeAsync(silence - 1);
    send(byte);
    expect((await read).value).toEqual(byte);
  }
  const ended = expect(reader.read()).rejects.toMatchObject({ name: "TimeoutException" });
  await vi.advanceTimersByTimeAsync(silence - 1);
  send(new Uint8Array());
  await vi.advanceTimersByTimeAsync(1);
  await ended;
});

test("the caller's signal ends it with its reason, while it is read and before", async () => {
  for (const isRead of [true, false]) {
    const controller = new AbortController();
    const { reader, cancelled } = start(controller.signal);
    const first = isRead && reader.read();
    await vi.advanceTimersByTimeAsync(0);
    controller.abort("enough");
    await expect(first || reader.read()).rejects.toBe("enough");
    expect(cancelled).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
    expect(listeners(controller)).toEqual([]);
  }
  const { reader, cancelled } = start(AbortSignal.abort("gone"));
  await expect(reader.read()).rejects.toBe("gone");
  expect(cancelled).toHaveBeenCalledOnce();
});

test("a body of somebody's own that ignores its cancellation ends, too", async () => {
  const controller = new AbortController();
  const never = () => new Promise<never>(() => {});
  const body = { getReader: () => ({ read: never, cancel: never }) } as never;
  const redaction = () => redactor([], []);
  const reader = watchedBody(body, { signal: controller.signal, redaction }).getReader();
  const ended = expect(reader.read()).rejects.toBe("enough");
  await vi.advanceTimersByTimeAsync(0);
  controller.abort("enough");
  await ended;
  expect(vi.getTimerCount()).toBe(0);
  const other = watchedBody(body, { signal: undefined, redaction }).getReader();
  const read = other.read();
  await vi.advanceTimersByTimeAsync(0);
  await other.cancel();
  expect((await read).done).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("a reader that goes ends the connection, and leaves no timer and no listener", async () => {
  const controller = new AbortController();
  const { reader, cancelled } = start(controller.signal);
  const read = reader.read();
  await reader.cancel();
  expect((await read).done).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(cancelled).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
  expect(listeners(controller)).toEqual([]);
});

test("a connection that breaks is a NetworkException without the key and without placed", async () => {
  const { reader, fail } = start();
  const read = reader.read();
  fail(new Error("lost https://voice.test/?the-secret-key"));
  const error = await read.catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: "NetworkException" });
  expect(error).not.toHaveProperty("placed");
  expect(String(error)).toContain("lost https://voice.test/?***");
  expect(vi.getTimerCount()).toBe(0);
});
