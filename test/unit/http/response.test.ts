import { Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import { headOf, readText } from "../../../src/http/response.ts";

const url = "https://voice.test/api/v1/calls/initiate";
const head = (status: number, more: object = {}) =>
  headOf({ status, headers: new Headers(), url, ...more } as Response, url);

test.each([
  ["no", [307, 308, 400, 401, 403, 404, 405, 410, 413, 418, 422, 424, 426, 429, 451, 498]],
  ["maybe", [0, 101, 200, 202, 204, 300, 301, 302, 303, 304, 305, 306, 309, 399]],
  ["maybe", [408, 409, 425, 499, 500, 502, 503, 504, 599, 600, 999]],
] as const)("what may have been placed: %s after %j", (placed, statuses) => {
  for (const status of statuses) expect(head(status).placed, `${status}`).toBe(placed);
});

test("what came through a redirect tells nothing, by its mark or by its address", () => {
  for (const status of [200, 202, 307, 403, 404, 429]) {
    const { ok, placed } = head(status, { redirected: true });
    expect([ok, placed]).toEqual([false, "maybe"]);
  }
  expect(head(404, { url: "https://voice.test/elsewhere" }).placed).toBe("maybe");
});

test("an address that is only written otherwise, or is unknown, is no redirect", () => {
  const asked = "HTTPS://Voice.test:443/api/v1/calls/initiate";
  for (const given of [url, "", undefined]) {
    expect(headOf({ status: 404, url: given } as Response, asked).placed).toBe("no");
  }
});

test("a 2xx of another address is an answer: a fetch of the caller's may lead through a gateway", () => {
  expect(head(202, { url: "https://gateway.test/" }).ok).toBe(true);
});

test("what has no status is no answer", () => {
  for (const junk of [{}, { ok: true }, { status: "202" }, { status: 202.5 }, "text"]) {
    expect(() => headOf(junk as never, url)).toThrow("fetch gave no Response");
  }
});

test("an answer without headers, or whose headers throw, has none", () => {
  const throwing = {
    get: () => {
      throw new Error("no");
    },
  };
  for (const headers of [undefined, {}, throwing]) {
    expect(head(500, { headers }).header("retry-after")).toBe("");
  }
});

const { signal } = new AbortController();
const read = (response: Response, own = signal) =>
  readText(headOf(response, "https://a.test/"), own);

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
])("an endless body of chunks %s is left, and its source reported", async (_, size) => {
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

test("a body that nobody waits for any more is left, and its source reported: before and while it is read", async () => {
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
