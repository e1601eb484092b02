import { expect, test, vi } from "vitest";
import { post, readText } from "../../../src/request/transport.ts";

const url = "https://voice.test/x";
const signal = new AbortController().signal;

test("fetch gets the URL and one init, with the method and a manual redirect", async () => {
  const send = vi.fn(async () => new Response("ok"));
  await post(url, { headers: { "X-API-Key": "ak_1" }, body: "{}" }, send, String);
  expect(send.mock.calls).toEqual([
    [url, { headers: { "X-API-Key": "ak_1" }, body: "{}", method: "POST", redirect: "manual" }],
  ]);
});

test("any status is an answer", async () => {
  for (const status of [200, 302, 404, 429, 503]) {
    const response = await post(url, {}, async () => new Response("", { status }), String);
    expect(response.status).toBe(status);
  }
});

const failure = (code: string | undefined, message = "") =>
  Object.assign(new Error(message), { code });

test.each([
  ["ECONNREFUSED", "", "no"],
  ["ENOTFOUND", "", "no"],
  ["EAI_AGAIN", "", "no"],
  ["UND_ERR_CONNECT_TIMEOUT", "", "no"],
  ["CERT_HAS_EXPIRED", "", "no"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "", "no"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "", "no"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "", "no"],
  [undefined, "error sending request for url (…): client error (Connect): dns error", "no"],
  ["ENETUNREACH", "connect ENETUNREACH 192.0.2.1:443", "no"],
  ["EHOSTUNREACH", "connect EHOSTUNREACH 192.0.2.1:443", "no"],
  ["ETIMEDOUT", "connect ETIMEDOUT 192.0.2.1:443", "no"],
  ["EHOSTUNREACH", "read EHOSTUNREACH", "maybe"],
  ["ECONNRESET", "", "maybe"],
  ["EPIPE", "", "maybe"],
  ["ETIMEDOUT", "", "maybe"],
  ["UND_ERR_SOCKET", "other side closed", "maybe"],
  [undefined, "error sending request: client error (SendRequest): connection closed", "maybe"],
  [undefined, "upstream said ECONNREFUSED", "maybe"],
  [undefined, "", "maybe"],
])("code %s, message %j: placed is %s", async (code, message, placed) => {
  const wrapped = new TypeError("fetch failed", { cause: failure(code, message) });
  for (const error of [failure(code, message), wrapped]) {
    const attempt = post(url, {}, () => Promise.reject(error), String);
    await expect(attempt).rejects.toMatchObject({ name: "NetworkException", placed });
  }
});

test.each([
  ["ECONNRESET", "read ECONNRESET", ": ECONNRESET: read ECONNRESET"],
  [undefined, "socket hang up", ": socket hang up"],
  [undefined, "", ""],
])("code %s, message %j: the platform's own words are told", async (code, message, words) => {
  const attempt = post(url, {}, () => Promise.reject(failure(code, message)), String);
  const told = `The connection failed${words} (a call may have been placed)`;
  await expect(attempt).rejects.toMatchObject({ message: told });
});

test("what has no status is no answer", async () => {
  const attempt = post(url, {}, async () => ({}) as Response, String);
  await expect(attempt).rejects.toThrow("The connection failed: fetch gave no Response");
});

test("the innermost cause is told, up to the fifth", async () => {
  const nested = (depth: number, most: number): Error =>
    new Error(`cause ${depth}`, depth < most ? { cause: nested(depth + 1, most) } : {});
  for (const [most, told] of [
    [4, 4],
    [5, 5],
    [6, 5],
    [9, 5],
  ] as const) {
    const attempt = post(url, {}, () => Promise.reject(nested(0, most)), String);
    await expect(attempt).rejects.toThrow(`cause ${told} (`);
  }
});

test("an endless chain of causes ends", async () => {
  const error = new Error("round");
  error.cause = error;
  await expect(post(url, {}, () => Promise.reject(error), String)).rejects.toThrow("round");
});

test("a body is read to its end, without its byte order mark, whatever its chunks", async () => {
  const bytes = new TextEncoder().encode("\ufeffgrüße 📞");
  const stream = new ReadableStream({
    start: (controller) => {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  expect(await readText(new Response(stream), signal, String)).toBe("grüße 📞");
  expect(await readText(new Response(null), signal, String)).toBe("");
});

test("a body past 1 MiB is left, and its source told", async () => {
  const cancel = vi.fn();
  const pull = (controller: ReadableStreamDefaultController) =>
    controller.enqueue(new Uint8Array(2 ** 16));
  const response = new Response(new ReadableStream({ pull, cancel }));
  expect(await readText(response, signal, String)).toBe("");
  expect(cancel).toHaveBeenCalledOnce();
});

test("a length is believed but where it may be that of a packed body", async () => {
  const answer = (type: string, headers = {}) =>
    Object.defineProperty(
      new Response("x".repeat(2 ** 20 + 1), { headers: { "content-length": "9", ...headers } }),
      "type",
      { value: type },
    );
  const read = async (response: Response) => (await readText(response, signal, String)).length;
  expect(await read(answer("basic"))).toBe(2 ** 20 + 1);
  expect(await read(answer("cors"))).toBe(0);
  expect(await read(answer("basic", { "content-encoding": "gzip" }))).toBe(0);
});

test("a body that nobody waits for any more is left, and its source told", async () => {
  const cancel = vi.fn();
  const controller = new AbortController();
  const pull = () => new Promise<void>(() => {});
  const read = readText(
    new Response(new ReadableStream({ pull, cancel })),
    controller.signal,
    String,
  );
  controller.abort();
  await read;
  expect(cancel).toHaveBeenCalledOnce();
});

test("a body that another has taken is a NetworkException", async () => {
  const response = new Response("ok");
  await response.text();
  await expect(readText(response, signal, String)).rejects.toMatchObject({
    name: "NetworkException",
  });
});
