import { describe, expect, it } from "vitest";
import { type RequestRules, reachOf, requester, type Send } from "../../../src/server/outgoing.ts";

const rules = (more: Partial<RequestRules> = {}): RequestRules => ({
  limit: 100,
  redirects: "origin",
  reach: reachOf(false, false),
  signal: new AbortController().signal,
  ...more,
});

/** A budget, in milliseconds, that only what hangs uses up. */
const ample = 60_000;

const ask = (send: Send, more: Partial<RequestRules> = {}, budget = ample) =>
  requester(send, budget)("https://app.test/a", { method: "POST", body: "x" }, rules(more));

const moved = (location: string, status = 307) =>
  new Response(null, { status, headers: { location } });

describe("a request of the emulator's own", () => {
  it("gives the answer's head and the beginning of its body", async () => {
    const { response, body, error, ms } = await ask(() => new Response("y".repeat(101)));
    expect(response?.status).toBe(200);
    expect(body).toEqual({ bytes: new Uint8Array(100).fill(121), isWhole: false });
    expect(error).toBeUndefined();
    expect(ms).toBeLessThan(ample);
    const whole = await ask(() => new Response("y".repeat(100)));
    expect(whole.body?.isWhole).toBe(true);
  });

  it("asks that no redirect be followed, and follows itself where it may", async () => {
    const seen: string[] = [];
    const { response } = await ask(async (request) => {
      seen.push(`${request.redirect} ${request.method} ${request.url} ${await request.text()}`);
      return seen.length === 1 ? moved("/b?c") : new Response();
    });
    expect(response?.status).toBe(200);
    expect(seen).toEqual([
      "manual POST https://app.test/a x",
      "manual POST https://app.test/b?c x",
    ]);
  });

  it.each([
    ["https://other.test/", "origin", "redirects to another origin"],
    ["http://app.test/", "any", "redirects to where it must not"],
    ["http://localhost/", "any", "redirects to where it must not"],
    ["https://u:p@app.test/", "any", "redirects to where it must not"],
    ["file:///etc/passwd", "any", "redirects to where it must not"],
    ["/a", "any", "redirects more than 5 times"],
  ] as const)("does not follow to %s where it may follow to %s", async (to, redirects, message) => {
    let count = 0;
    const { error } = await ask(
      () => {
        count++;
        return moved(to);
      },
      { redirects },
    );
    expect(error).toBe(message);
    expect(count).toBeLessThanOrEqual(6);
  });

  it.each([302, 307])(
    "leaves signature and credentials behind on a redirect by %i to another origin, and keeps the range",
    async (status) => {
      const seen: [string, string[]][] = [];
      const send: Send = ({ url, headers }) => {
        seen.push([url, [...headers.keys()].filter((name) => name !== "accept")]);
        return seen.length === 1 ? moved("https://cdn.test/b", status) : new Response();
      };
      const headers = { Range: "bytes=0-9", Authorization: "Basic x", "X-Twilio-Signature": "y" };
      await requester(send, ample)("https://app.test/a", { headers }, rules({ redirects: "any" }));
      expect(seen).toEqual([
        ["https://app.test/a", ["authorization", "range", "x-twilio-signature"]],
        ["https://cdn.test/b", ["range"]],
      ]);
    },
  );

  it("follows to loopback only for a service that is itself there", async () => {
    const send: Send = ({ url }) =>
      url.startsWith("http:") ? new Response("here") : moved("http://127.0.0.1:1/");
    const { response } = await ask(send, { redirects: "any", reach: reachOf(true, false) });
    expect(response?.status).toBe(200);
  });

  it("leaves a redirect as it is where none is followed", async () => {
    const { response } = await ask(() => moved("/b"), { redirects: "none" });
    expect(response?.status).toBe(307);
  });

  it("ends within its budget, and tells the request so", async () => {
    let signal: AbortSignal | undefined;
    const send: Send = (_, init) => {
      signal = init.signal;
      return new Promise(() => {});
    };
    const { error } = await ask(send, {}, 50);
    expect(error).toBe("no answer within 50 ms");
    expect(signal?.aborted).toBe(true);
  });

  it("ends within its budget in the body, which is canceled, and knows the head", async () => {
    let canceled = false;
    const stalled = new ReadableStream({
      cancel: () => {
        canceled = true;
      },
    });
    const { response, body, error } = await ask(() => new Response(stalled), {}, 500);
    expect(response?.status).toBe(200);
    expect(body).toBeUndefined();
    expect(error).toBe("no answer within 500 ms");
    await new Promise((resolve) => setTimeout(resolve));
    expect(canceled).toBe(true);
  });

  it("says what the platform says, of the innermost cause", async () => {
    const cause = new Error("connect ECONNREFUSED");
    const { error } = await ask(() => {
      throw new TypeError("fetch failed", { cause });
    });
    expect(error).toBe("connect ECONNREFUSED");
  });

  it("ends with its signal", async () => {
    const controller = new AbortController();
    const asked = ask(() => new Promise(() => {}), { signal: controller.signal });
    controller.abort("enough");
    expect((await asked).error).toBe("enough");
  });
});
