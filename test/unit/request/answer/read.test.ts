import { Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import { answerOf } from "../../../../src/request/answer/answer.ts";
import { readText } from "../../../../src/request/answer/read.ts";

const { signal } = new AbortController();
const read = (response: Response, own = signal, isPlatforms = false) =>
  readText(answerOf(response, "https://a.test/"), own, isPlatforms);

test("a body is read to its end, without its byte order mark, whatever its chunks", async () => {
  const bytes = new TextEncoder().encode("\ufeffgrüße 📞");
  const stream = new ReadableStream({
    start: (controller) => {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  expect(await read(new Response(stream))).toBe("grüße 📞");
  expect(await read(new Response(null))).toBe("");
});

test.each([
  ["of many bytes", 2 ** 16],
  ["of one byte", 1],
  ["of none, which would starve every timer", 0],
])("an endless body of chunks %s is left, and its source told", async (_, size) => {
  const cancel = vi.fn();
  let chunks = 0;
  const pull = (controller: ReadableStreamDefaultController) => {
    chunks++;
    controller.enqueue(new Uint8Array(size));
  };
  expect(await read(new Response(new ReadableStream({ pull, cancel })))).toBe("");
  expect(cancel).toHaveBeenCalledOnce();
  expect(chunks).toBeLessThan(2 ** 17 + 10);
});

test("an answer in the smallest pieces is read", async () => {
  const body = JSON.stringify({ id: "cs_1", text: "x".repeat(20_000) });
  const pieces = [...body];
  const stream = new ReadableStream({
    pull: (controller) => {
      const piece = pieces.shift();
      if (piece) controller.enqueue(new TextEncoder().encode(piece));
      else controller.close();
    },
  });
  expect(await read(new Response(stream))).toBe(body);
});

test("what comes is counted, whatever the head says", async () => {
  const body = "x".repeat(2 ** 20 + 1);
  for (const headers of [{ "content-length": "5" }, { "content-length": `${2 ** 20 + 1}` }]) {
    expect(await read(new Response(body, { headers }))).toBe("");
  }
  expect(
    await read(new Response(body.slice(1), { headers: { "content-length": "1" } })),
  ).toHaveLength(2 ** 20);
});

test("a length is believed of a platform's own fetch, where nothing in the head makes it a lie", async () => {
  const lengthOf = async (headers: Record<string, string>, isPlatforms = true, type = "basic") => {
    const response = new Response("x".repeat(2 ** 20 + 1), { headers });
    const typed = Object.defineProperty(response, "type", { value: type });
    return (await read(typed, signal, isPlatforms)).length;
  };
  expect(await lengthOf({ "content-length": "5" })).toBe(2 ** 20 + 1);
  expect(await lengthOf({ "content-length": "5" }, false)).toBe(0);
  expect(await lengthOf({ "content-length": "5" }, true, "cors")).toBe(0);
  for (const headers of [
    {},
    { "content-length": "" },
    { "content-length": "five" },
    { "content-length": `${2 ** 20 + 1}` },
    { "content-length": "5", "transfer-encoding": "chunked" },
    { "content-length": "5", "content-encoding": "gzip" },
  ])
    expect(await lengthOf(headers)).toBe(0);
});

test("a body that a fetch of the caller's brings is read as far as any other: Node's streams", async () => {
  const bring = (chunks: readonly string[]) => ({
    status: 200,
    body: Readable.from(chunks.map((each) => Buffer.from(each))),
  });
  expect(await read(bring(["wh", "ole"]) as never)).toBe("whole");
  const long = bring(Array.from({ length: 64 }, () => "x".repeat(2 ** 15)));
  expect(await read(long as never)).toBe("");
  expect(long.body.destroyed).toBe(true);
});

test("an answer without a stream is read as its maker reads it", async () => {
  expect(await read({ status: 200, text: async () => "whole" } as never)).toBe("whole");
});

test("a body that nobody waits for any more is left, and its source told: before and while it is read", async () => {
  for (const isLate of [false, true]) {
    const cancel = vi.fn();
    const controller = new AbortController();
    const pull = () => new Promise<void>(() => {});
    if (isLate) controller.abort();
    const text = read(new Response(new ReadableStream({ pull, cancel })), controller.signal);
    controller.abort();
    await text;
    expect(cancel).toHaveBeenCalledOnce();
  }
});

test("a source that can't be left is left all the same", async () => {
  const reader = { read: async () => ({ value: new Uint8Array(2 ** 21) }) };
  const made = { status: 200, body: { getReader: () => reader } };
  expect(await read(made as never)).toBe("");
});
