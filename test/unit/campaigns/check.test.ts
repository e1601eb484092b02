import { describe, expect, it, vi } from "vitest";
import { callbackHandler } from "../../../src/callbacks/handler.ts";
import { verifyUrl } from "../../../src/callbacks/signed-url.ts";
import type { CheckOptions } from "../../../src/campaigns/index.ts";
import { hangup } from "../../../src/flows/actions.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { people, secret, stageOf } from "./stage.ts";

/** An application with both handlers. */
const applicationOf = (flowSecret: string): CheckOptions["fetch"] => {
  const flow = flowHandler({ secret: flowSecret, onAnswer: () => hangup(), onError: () => {} });
  const status = callbackHandler({ secret, onEvent: () => {} });
  return (url, init) => (url.includes("/flow") ? flow : status)(new Request(url, init));
};

const resultsOf = async (fetch: CheckOptions["fetch"]) => {
  const { campaign } = await stageOf();
  return campaign.check({ fetch });
};

describe("campaign.check", () => {
  it("accepts handlers that have the campaign's secret", async () => {
    expect(await resultsOf(applicationOf(secret))).toEqual([
      { param: "flow_url", result: "accepted", status: 204, message: "" },
      { param: "status_callback_url", result: "accepted", status: 204, message: "" },
    ]);
  });

  it("is refused by a handler that has another secret, and names the option", async () => {
    const [flow, status] = await resultsOf(applicationOf("another secret of an application"));
    expect(flow).toMatchObject({ result: "refused", message: expect.stringMatching(/^flow_url /) });
    expect(flow?.message).toContain("wrong_token");
    expect(status).toMatchObject({ result: "accepted" });
  });

  it.each<[string, () => Promise<Response> | Response]>([
    ["another status", () => new Response(null, { status: 404 })],
    ["200", () => new Response(null)],
    ["a 401 without the header", () => new Response(null, { status: 401 })],
    [
      "a header that is no reason",
      () => new Response(null, { status: 401, headers: { "outdial-refused": "</p> \u00e9" } }),
    ],
    [
      "another status with the header",
      () => new Response(null, { status: 403, headers: { "outdial-refused": "wrong_token" } }),
    ],
    ["a redirect", () => Response.redirect("https://elsewhere.test/", 307)],
    ["no connection", () => Promise.reject(new TypeError("fetch failed"))],
  ])("%s is unclear", async (_, answer) => {
    const checks = await resultsOf(async () => answer());
    expect(checks.map(({ result }) => result)).toEqual(["unclear", "unclear"]);
    for (const { message } of checks) expect(message).toMatch(/is not known(;|$)/);
  });

  it.each([404, 405])(
    "%i, which frameworks answer where only POST is mounted, names the next step",
    async (status) => {
      const [{ message } = { message: "" }] = await resultsOf(
        async () => new Response(null, { status }),
      );
      expect(message).toMatch(/is not known; mount the handler for HEAD, too$/);
    },
  );

  it("asks by HEAD at URLs that are signed for 60 s, and names no contact", async () => {
    const { campaign } = await stageOf();
    await campaign.add(people(1));
    const asked: [string, RequestInit][] = [];
    const before = Date.now();
    await campaign.check({
      fetch: async (url, init) => {
        asked.push([url, init]);
        return new Response(null, { status: 204 });
      },
    });
    expect(asked).toHaveLength(2);
    for (const [url, { method, redirect }] of asked) {
      expect({ method, redirect }).toEqual({ method: "HEAD", redirect: "manual" });
      expect(await verifyUrl(url, { secret })).toEqual({});
      const [, expires = "0"] = /outdial=(\d+)/.exec(url) ?? [];
      expect(Number(expires)).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + 60);
      expect(Number(expires)).toBeGreaterThanOrEqual(Math.floor(before / 1000) + 60);
    }
  });

  it("waits 5 s for an answer, and no more", async () => {
    vi.useFakeTimers();
    try {
      const { campaign } = await stageOf();
      const signals: (AbortSignal | null | undefined)[] = [];
      const asked = Promise.withResolvers<void>();
      const checked = campaign.check({
        fetch: (_, { signal }) => {
          if (signals.push(signal) === 2) asked.resolve();
          return new Promise(() => {});
        },
      });
      // A signature is no work of a fake timer.
      await asked.promise;
      await vi.advanceTimersByTimeAsync(5_000);
      expect((await checked).map(({ message }) => message)).toEqual([
        expect.stringContaining("gave no answer within 5 s"),
        expect.stringContaining("gave no answer within 5 s"),
      ]);
      expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("ends by its signal, with its reason", async () => {
    const { campaign } = await stageOf();
    const controller = new AbortController();
    const checked = campaign.check({
      fetch: () => new Promise(() => {}),
      signal: controller.signal,
    });
    controller.abort(new Error("stopped"));
    await expect(checked).rejects.toThrow("stopped");
  });

  it("is never made by run", async () => {
    const fetch = vi.spyOn(globalThis, "fetch");
    const { campaign, posts, tell } = await stageOf();
    await campaign.add(people(1));
    const ended = campaign.run();
    await vi.waitFor(() => expect(posts).toHaveLength(1));
    await tell(0, "call.completed");
    await ended;
    expect(fetch).not.toHaveBeenCalled();
    fetch.mockRestore();
  });
});
