import { assert } from "chai";
import type { Options } from "outdial";
import { type Answer, answering } from "../../stub-server/answer.ts";
import { type ClientCase, isVague } from "../case.ts";
import { accepted, answeringFetch, apiKey, exceptionOf, options, params } from "../fixtures.ts";
import { settle, until, withHeldTimers } from "../timers.ts";

/** A deadline that no other timer has: tests hold its timer, and fire it. */
const deadline = 10_007;

const isDeadline = (delay: number): boolean => delay === deadline;

/** The platform's own fetch, and how many heads of answers have come by it. */
const countingFetch = () => {
  const { fetch: platform } = globalThis;
  let heads = 0;
  const fetch = async (url: string, init: RequestInit) => {
    const response = await platform(url, init);
    heads++;
    return response;
  };
  return { fetch, heads: () => heads };
};

export const cases: readonly ClientCase[] = [
  {
    name: "the deadline covers head and body, and a call may have been placed; one POST",
    run: async ({ calls, peer }) => {
      const stalls: readonly Answer[] = [
        { instead: "silence" },
        { status: 202, body: "", after: "stall" },
        { status: 202, body: '{"data":{"id":"cs_1"', after: "stall" },
        { status: 503, body: '{"det', after: "stall" },
      ];
      for (const stall of stalls) {
        await withHeldTimers(isDeadline, async ({ fire }) => {
          const { baseUrl, seen } = answering(peer, stall);
          const { fetch, heads } = countingFetch();
          let isOver = false;
          const call = exceptionOf(
            calls.create(params, { ...options, baseUrl, fetch, timeout: deadline }),
          ).finally(() => {
            isOver = true;
          });
          await until(stall.instead ? async () => (await seen()).length : heads);
          await settle();
          assert.isFalse(isOver, "it waits until the deadline");
          await fire(deadline);
          const error = await call;
          assert.equal(error.name, "TimeoutException");
          assert.equal(error.placed, "maybe");
          assert.match(error.message, /^No answer within 10007 ms/);
          assert.lengthOf(await seen(), 1);
        });
      }
    },
  },
  {
    name: "a refusal whose body stalls ends with the deadline, with its status, and placed nothing",
    run: async ({ calls, peer }) => {
      await withHeldTimers(isDeadline, async ({ fire }) => {
        const { baseUrl } = answering(peer, { status: 403, body: "{", after: "stall" });
        const { fetch, heads } = countingFetch();
        const call = exceptionOf(
          calls.create(params, { ...options, baseUrl, fetch, timeout: deadline }),
        );
        await until(heads);
        await settle();
        await fire(deadline);
        const error = await call;
        assert.equal(error.name, "TimeoutException");
        assert.equal(error.placed, "no");
        assert.equal(error.code, 403);
      });
    },
  },
  {
    name: "a connection that is lost after the request may have placed a call; one POST",
    run: async ({ calls, peer }) => {
      for (const loss of [
        { instead: "drop" },
        { status: 202, body: '{"data":{"id', after: "drop" },
      ] as const) {
        const { baseUrl, seen } = answering(peer, loss);
        const error = await exceptionOf(
          calls.create(params, { ...options, baseUrl, timeout: 10_000 }),
        );
        assert.include(["NetworkException", "ServiceException"], error.name);
        assert.equal(error.placed, "maybe");
        assert.lengthOf(await seen(), 1);
      }
    },
  },
  {
    name: "a POST is not sent again when a kept connection dies under it; Chromium does so by itself",
    run: async ({ calls, peer, runtime }) => {
      const kept = answering(peer, { ...accepted, keepAlive: true });
      await calls.create(params, { ...options, baseUrl: kept.baseUrl });
      const { baseUrl, seen } = answering(peer, { instead: "drop", keepAlive: true });
      const error = await exceptionOf(calls.create(params, { ...options, baseUrl }));
      assert.equal(error.placed, "maybe");
      assert.lengthOf(await seen(), runtime === "chromium" ? 2 : 1);
    },
  },
  {
    name: "a refusal whose connection is lost in the body keeps its status, and placed nothing",
    run: async ({ calls, peer }) => {
      const { baseUrl } = answering(peer, { status: 403, body: "{", after: "drop" });
      const error = await exceptionOf(calls.create(params, { ...options, baseUrl }));
      assert.equal(error.name, "ForbiddenException");
      assert.equal(error.placed, "no");
    },
  },
  {
    name: "a connection that was never made is a NetworkException; placed is no where the runtime says so",
    run: async (env) => {
      // Nobody listens there.
      const baseUrl = "http://127.0.0.1:4";
      const error = await exceptionOf(
        env.calls.create({ ...params }, { ...options, baseUrl, timeout: 5_000 }),
      );
      assert.equal(error.name, "NetworkException");
      // workerd, happy-dom and browsers don't tell a connection that was refused from one that was lost.
      assert.equal(error.placed, isVague(env) ? "maybe" : "no", error.message);
    },
  },
  {
    name: "a fetch that throws, rejects with junk or gives no Response is a NetworkException",
    run: async ({ calls }) => {
      const wrong = [
        () => {
          throw new Error("at once");
        },
        () => Promise.reject("text"),
        () => Promise.reject(undefined),
        () => Promise.reject(null),
        async () => undefined,
        async () => "text",
        async () => ({}),
        async () => ({ ok: true }),
        async () => Response.error(),
      ];
      for (const fetch of wrong) {
        const error = await exceptionOf(
          calls.create(params, {
            ...options,
            baseUrl: "https://voice.test",
            fetch: fetch as never,
          }),
        );
        assert.include(["NetworkException", "ServiceException"], error.name);
        assert.equal(error.placed, "maybe");
      }
    },
  },
  {
    name: "a fetch that ignores its signal can't hold a call past the deadline or the caller's abort",
    run: async ({ calls }) => {
      const fetches = [
        () => new Promise<never>(() => {}),
        async () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })),
      ];
      for (const fetch of fetches) {
        const error = await exceptionOf(
          calls.create(params, { ...options, baseUrl: "https://voice.test", fetch, timeout: 50 }),
        );
        assert.equal(error.name, "TimeoutException");
        const controller = new AbortController();
        const call = calls.create(params, {
          ...options,
          baseUrl: "https://voice.test",
          fetch,
          signal: controller.signal,
        });
        setTimeout(() => controller.abort("enough"), 20);
        assert.equal(await call.catch((reason) => reason), "enough");
      }
    },
  },
  {
    name: "once a head has come, no error of the body says that nothing was placed",
    run: async ({ calls }) => {
      const lost = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      const body = () => new ReadableStream({ pull: () => Promise.reject(lost) });
      const fetch = async () => new Response(body(), { status: 202 });
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl: "https://voice.test", fetch }),
      );
      assert.equal(error.name, "NetworkException");
      assert.equal(error.placed, "maybe");
    },
  },
  {
    name: "no deadline is no deadline",
    run: async ({ calls }) => {
      const fetch = () =>
        new Promise<Response>((resolve) =>
          setTimeout(() => resolve(Response.json(accepted.json)), 50),
        );
      assert.equal(
        (
          await calls.create(params, {
            ...options,
            baseUrl: "https://voice.test",
            fetch,
            timeout: false,
          })
        ).id,
        "cs_1",
      );
    },
  },
  {
    name: "an abort rejects with the signal's own reason, before, during and after the head",
    run: async ({ calls, peer }) => {
      const reason = new Error("the caller's own");
      const before = answering(peer, accepted);
      const create = (baseUrl: string, signal: AbortSignal, fetch?: Options["fetch"]) =>
        calls.create(params, { ...options, baseUrl, signal, fetch }).then(
          () => "placed",
          (error) => error,
        );
      assert.strictEqual(await create(before.baseUrl, AbortSignal.abort(reason)), reason);
      assert.lengthOf(await before.seen(), 0);
      for (const stall of [
        { instead: "silence" },
        { status: 202, body: "{", after: "stall" },
      ] as const) {
        const { baseUrl, seen } = answering(peer, stall);
        const { fetch, heads } = countingFetch();
        const controller = new AbortController();
        const aborted = create(baseUrl, controller.signal, fetch);
        await until("instead" in stall ? async () => (await seen()).length : heads);
        await settle();
        controller.abort(reason);
        assert.strictEqual(await aborted, reason);
        assert.lengthOf(await seen(), 1);
      }
      const controller = new AbortController();
      controller.abort();
      assert.equal((await create(before.baseUrl, controller.signal)).name, "AbortError");
    },
  },
  {
    name: "the signal is added to the deadline, never in its place",
    run: async ({ calls }) => {
      const fetch = () => new Promise<never>(() => {});
      const { signal } = new AbortController();
      const error = await exceptionOf(
        calls.create(params, {
          ...options,
          baseUrl: "https://voice.test",
          fetch,
          signal,
          timeout: 30,
        }),
      );
      assert.equal(error.name, "TimeoutException");
    },
  },
  {
    name: "the deadline is 10 seconds unless it is given",
    run: async ({ Client, calls }) => {
      const { setTimeout: platform } = globalThis;
      const delays: unknown[] = [];
      globalThis.setTimeout = ((act: () => void, delay?: number) => {
        delays.push(delay);
        return platform(act, delay);
      }) as typeof setTimeout;
      try {
        const { fetch } = answeringFetch();
        await calls.create(params, { ...options, baseUrl: "https://voice.test", fetch });
        await new Client(apiKey, {
          baseUrl: "https://voice.test",
          fetch,
          dangerouslyAllowBrowser: true,
        }).calls.create(params);
      } finally {
        globalThis.setTimeout = platform;
      }
      assert.deepEqual(
        delays.filter((delay) => Number(delay) > 1_000),
        [10_000, 10_000],
      );
    },
  },
  {
    name: "a 429 is tried again only with retries, after its Retry-After",
    run: async ({ calls, peer }) => {
      const busy = { status: 429, headers: { "retry-after": "7" } };
      const without = answering(peer, busy, accepted);
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl: without.baseUrl }),
      );
      assert.deepEqual([error.code, error.placed, error.retryAfter], [429, "no", 7]);
      assert.lengthOf(await without.seen(), 1);
      const once = answering(peer, busy, accepted);
      await withHeldTimers(
        (delay) => delay === 7_000,
        async ({ delays, fire }) => {
          const call = calls.create(params, { ...options, baseUrl: once.baseUrl, retries: 1 });
          await until(() => delays().length);
          assert.lengthOf(await once.seen(), 1);
          await fire(7_000);
          assert.equal((await call).id, "cs_1");
        },
      );
      assert.lengthOf(await once.seen(), 2);
    },
  },
  {
    name: "retries end: with their number, and where Retry-After lies past the deadline",
    run: async ({ calls, peer }) => {
      const soon = answering(peer, { status: 429, headers: { "retry-after": "0" } });
      assert.equal(
        (await exceptionOf(calls.create(params, { ...options, baseUrl: soon.baseUrl, retries: 2 })))
          .code,
        429,
      );
      assert.lengthOf(await soon.seen(), 3);
      for (const [seconds, timeout] of [
        ["60", 30_000],
        ["99999999999", false],
      ] as const) {
        const late = answering(peer, { status: 429, headers: { "retry-after": seconds } });
        // A 429 rather than a timeout: it does not wait first.
        assert.equal(
          (
            await exceptionOf(
              calls.create(params, { ...options, baseUrl: late.baseUrl, retries: 2, timeout }),
            )
          ).code,
          429,
        );
        assert.lengthOf(await late.seen(), 1);
      }
    },
  },
  {
    name: "nothing but a 429 is retried, whatever retries says",
    run: async ({ calls, peer }) => {
      for (const answer of [
        { status: 500 },
        { status: 503, headers: { "retry-after": "0" } },
        { status: 408 },
        { status: 202, body: "" },
        { instead: "drop" },
      ] as const) {
        const { baseUrl, seen } = answering(peer, answer);
        await exceptionOf(calls.create(params, { ...options, baseUrl, retries: 5 }));
        assert.lengthOf(await seen(), 1);
      }
    },
  },
  {
    name: "an abort while a retry waits ends the wait with the signal's reason",
    run: async ({ calls, peer }) => {
      const { baseUrl, seen } = answering(peer, { status: 429, headers: { "retry-after": "7" } });
      await withHeldTimers(
        (delay) => delay === 7_000,
        async ({ delays }) => {
          const controller = new AbortController();
          const { signal } = controller;
          const call = calls.create(params, { ...options, baseUrl, retries: 1, signal });
          await until(() => delays().length);
          controller.abort("enough");
          assert.equal(await call.catch((reason) => reason), "enough");
          assert.lengthOf(delays(), 0, "the wait is over, too");
        },
      );
      assert.lengthOf(await seen(), 1);
    },
  },
];
