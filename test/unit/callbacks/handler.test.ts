import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { RefusedException } from "../../../src/callbacks/errors.ts";
import { callbackHandler } from "../../../src/callbacks/handler.ts";
import { signUrl } from "../../../src/callbacks/signed-url.ts";

const secret = "a secret that was made at random";
const url = await signUrl("https://app.test/status", { secret });
const ringing = JSON.stringify({ type: "call.ringing", call_id: "cs_1", data: {} });

describe("callbackHandler", () => {
  test("answers whatever bytes it gets with a documented status, and never rejects", () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((json) => new TextEncoder().encode(json)),
        ),
        async (body) => {
          const reported: unknown[] = [];
          const onError = (error: unknown) => reported.push(error);
          const handler = callbackHandler({ secret, onEvent: () => {}, onError });
          const { status } = await handler(new Request(url, { method: "POST", body }));
          expect([204, 400]).toContain(status);
          for (const error of reported) expect(error).toBeInstanceOf(RefusedException);
        },
      ),
    ));

  test("refuses a body that says it is too large, and reads none of it", async () => {
    const pull = vi.fn((controller: ReadableStreamDefaultController) => controller.close());
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const headers = { "Content-Length": "65537" };
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const handler = callbackHandler({ secret, onEvent: () => {}, onError: () => {} });
    expect((await handler(new Request(url, init))).status).toBe(413);
    expect(pull).not.toHaveBeenCalled();
  });

  test("takes a body of 64 KiB that says so", async () => {
    const body = ringing.padEnd(65_536);
    const init = { method: "POST", headers: { "Content-Length": "65536" }, body };
    const handler = callbackHandler({ secret, onEvent: () => {} });
    expect((await handler(new Request(url, init))).status).toBe(204);
  });

  test("answers 500 to a body that breaks off, so that the service delivers again", async () => {
    const lost = new Error("connection lost");
    const body = new ReadableStream({ pull: (controller) => controller.error(lost) });
    const onError = vi.fn();
    const onEvent = vi.fn();
    const request = new Request(url, { method: "POST", body, duplex: "half" } as RequestInit);
    const response = await callbackHandler({ secret, onEvent, onError })(request);
    expect(response.status).toBe(500);
    expect(onError).toHaveBeenCalledWith(lost, request);
    expect(onEvent).not.toHaveBeenCalled();
  });

  test("answers 500 to a request whose body somebody has read already, and says why", async () => {
    const onError = vi.fn();
    const request = new Request(url, { method: "POST", body: ringing });
    await request.text();
    const handler = callbackHandler({ secret, onEvent: () => {}, onError });
    expect((await handler(request)).status).toBe(500);
    const why = expect.objectContaining({ message: expect.stringContaining("was read before") });
    expect(onError).toHaveBeenCalledWith(why, request);
  });

  test.each([42, 204, Number.NaN])(
    "answers 500 to a refusal of verify's own with the status %j, which no such response can have",
    async (status) => {
      const refusal = new RefusedException("no_signature", [status, "Sign it."]);
      const onError = vi.fn();
      const verify = () => Promise.reject(refusal);
      const handler = callbackHandler({ verify, onEvent: () => {}, onError });
      const request = new Request(url, { method: "POST", body: ringing });
      expect((await handler(request)).status).toBe(500);
      expect(onError).toHaveBeenCalledWith(refusal, request);
    },
  );

  test("keeps its options: what is changed afterwards changes nothing", async () => {
    const options = { secret: [secret], onEvent: () => {} };
    const handler = callbackHandler(options);
    options.onEvent = () => {
      throw new Error("changed");
    };
    expect((await handler(new Request(url, { method: "POST", body: ringing }))).status).toBe(204);
  });

  test("prints a refusal with the call's id where the body was read, and no number", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => void printed.mockRestore());
    const webhookSecret = `whsec_${btoa("a secret that was made at random")}`;
    const refusing = callbackHandler({ webhookSecret, onEvent: () => {} });
    const body = JSON.stringify({
      type: "call.ringing",
      call_id: "cs_refused1",
      to: "+12025550100",
    });
    const post = (text: string) =>
      refusing(new Request("https://app.test/status", { method: "POST", body: text }));
    expect((await post(body)).headers.get("outdial-refused")).toBe("no_signature");
    expect(printed.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^outdial: callbackHandler refused a request about the call cs_refused1: no_signature: /,
        ),
      ],
    ]);
    expect(JSON.stringify(printed.mock.calls)).not.toContain("2025550100");
  });

  test("leaves no timer behind, whatever the answer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const handler = callbackHandler({ secret, onEvent: () => {} });
      for (const body of [ringing, "{", "x".repeat(65_537)]) {
        await handler(new Request(url, { method: "POST", body }));
      }
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
