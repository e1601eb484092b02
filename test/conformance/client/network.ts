import { assert } from "chai";
import { type Answer, answering } from "../../peer/answer.ts";
import type { ClientCase } from "../case.ts";
import {
  accepted,
  answeringFetch,
  apiKey,
  exceptionOf,
  options,
  params,
  postsOn,
} from "../fixtures.ts";

const now = () => Date.now();

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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
      const stalling = async (stall: Answer) => {
        const { baseUrl, seen } = answering(peer, stall);
        const start = now();
        const error = await exceptionOf(
          calls.create(params, { ...options, baseUrl, timeout: 900 }),
        );
        assert.equal(error.name, "TimeoutException");
        assert.equal(error.placed, "maybe");
        assert.match(error.message, /^No answer within 900 ms/);
        assert.isAtLeast(now() - start, 890);
        assert.isBelow(now() - start, 3_000);
        return seen;
      };
      for (const seen of await Promise.all(stalls.map(stalling))) {
        assert.lengthOf(await seen(), 1);
      }
    },
  },
  {
    name: "a refusal whose body stalls ends with the deadline, with its status, and placed nothing",
    run: async ({ calls, peer }) => {
      const { baseUrl } = answering(peer, { status: 403, body: "{", after: "stall" });
      const error = await exceptionOf(calls.create(params, { ...options, baseUrl, timeout: 900 }));
      assert.equal(error.name, "TimeoutException");
      assert.equal(error.placed, "no");
      assert.equal(error.code, 403);
    },
  },
  {
    name: "a connection that is lost after the request may have placed a call; one POST",
    run: async ({ calls, peer, runtime }) => {
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
        assert.include(postsOn(runtime), (await seen()).length);
      }
    },
  },
  {
    name: "a POST is not sent again when a kept connection dies under it; Chromium does so by itself",
    run: async ({ calls, peer, runtime }) => {
      const kept = answering(peer, accepted);
      await calls.create(params, { ...options, baseUrl: kept.baseUrl });
      const { baseUrl, seen } = answering(peer, { instead: "drop" });
      const error = await exceptionOf(calls.create(params, { ...options, baseUrl }));
      assert.equal(error.placed, "maybe");
      const posts = postsOn(runtime);
      assert.include(runtime === "chromium" ? posts.slice(1) : posts, (await seen()).length);
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
    run: async ({ calls, runtime }) => {
      // Nobody listens there.
      const baseUrl = "http://127.0.0.1:4";
      const error = await exceptionOf(
        calls.create({ ...params }, { ...options, baseUrl, timeout: 5_000 }),
      );
      assert.equal(error.name, "NetworkException");
      // workerd, happy-dom and browsers don't tell a connection that was refused from one that was lost.
      assert.equal(
        error.placed,
        ["workerd", "happy-dom", "chromium"].includes(runtime) ? "maybe" : "no",
        error.message,
      );
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
      const create = (baseUrl: string, signal: AbortSignal) =>
        calls.create(params, { ...options, baseUrl, signal }).then(
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
        const controller = new AbortController();
        const aborted = create(baseUrl, controller.signal);
        while ((await seen()).length === 0) await pause(10);
        await pause(100); // In which the head arrives, where there is one.
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
      const busy = { status: 429, headers: { "retry-after": "1" } };
      const without = answering(peer, busy, accepted);
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl: without.baseUrl }),
      );
      assert.deepEqual([error.code, error.placed, error.retryAfter], [429, "no", 1]);
      assert.lengthOf(await without.seen(), 1);
      const once = answering(peer, busy, accepted);
      const start = now();
      assert.equal(
        (await calls.create(params, { ...options, baseUrl: once.baseUrl, retries: 1 })).id,
        "cs_1",
      );
      assert.isAtLeast(now() - start, 990);
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
        ["60", 5_000],
        ["99999999999", false],
      ] as const) {
        const late = answering(peer, { status: 429, headers: { "retry-after": seconds } });
        const start = now();
        assert.equal(
          (
            await exceptionOf(
              calls.create(params, { ...options, baseUrl: late.baseUrl, retries: 2, timeout }),
            )
          ).code,
          429,
        );
        assert.isBelow(now() - start, 3_000);
        assert.lengthOf(await late.seen(), 1);
      }
    },
  },
  {
    name: "nothing but a 429 is retried, whatever retries says",
    run: async ({ calls, peer, runtime }) => {
      for (const answer of [
        { status: 500 },
        { status: 503, headers: { "retry-after": "0" } },
        { status: 408 },
        { status: 202, body: "" },
        { instead: "drop" },
      ] as const) {
        const { baseUrl, seen } = answering(peer, answer);
        await exceptionOf(calls.create(params, { ...options, baseUrl, retries: 5 }));
        assert.include(postsOn(runtime), (await seen()).length);
      }
    },
  },
  {
    name: "an abort while a retry waits ends the wait with the signal's reason",
    run: async ({ calls, peer }) => {
      const { baseUrl, seen } = answering(peer, { status: 429, headers: { "retry-after": "5" } });
      const controller = new AbortController();
      const call = calls.create(params, {
        ...options,
        baseUrl,
        retries: 1,
        signal: controller.signal,
      });
      setTimeout(() => controller.abort("enough"), 400);
      assert.equal(await call.catch((reason) => reason), "enough");
      assert.lengthOf(await seen(), 1);
    },
  },
];
