import { assert } from "chai";
import type { Attempt } from "outdial";
import { answering } from "../../stub-server/answer.ts";
import type { ClientCase } from "../case.ts";
import {
  accepted,
  answeringFetch,
  apiKey,
  exceptionOf,
  from_number,
  options,
  params,
  to_number,
} from "../fixtures.ts";
import { settle, until, withHeldTimers } from "../timers.ts";

const baseUrl = "https://voice.test";

/** A listener that keeps what it hears. */
const keeping = () => {
  const heard: Attempt[] = [];
  return { heard, onAttempt: (attempt: Attempt) => void heard.push(attempt) };
};

export const cases: readonly ClientCase[] = [
  {
    name: "onAttempt hears of each POST: where it went, which it was, what came of it",
    run: async ({ calls, peer }) => {
      const { heard, onAttempt } = keeping();
      const { baseUrl } = answering(
        peer,
        { status: 404 },
        { ...accepted, headers: { "x-request-id": "req_1" } },
      );
      await calls.create(params, { ...options, baseUrl, onAttempt });
      assert.deepEqual(
        heard.map(({ milliseconds: _, ...rest }) => rest),
        [
          {
            ...{ method: "POST", url: `${baseUrl}/api/v1/calls/initiate`, attempt: 1 },
            ...{ status: 404, requestId: undefined, placed: "no" },
          },
          {
            ...{ method: "POST", url: `${baseUrl}/api/v1/voice/calls/initiate`, attempt: 2 },
            ...{ status: 202, requestId: "req_1", placed: "yes" },
          },
        ],
      );
      for (const { milliseconds } of heard) assert.isAtLeast(milliseconds, 0);
    },
  },
  {
    name: "onAttempt hears of what fails, once, also where the deadline or the caller ends it",
    run: async ({ calls }) => {
      const never = () => new Promise<never>(() => {});
      const stalled = async () =>
        new Response(new ReadableStream({ pull: never }), { status: 202 });
      const ways: readonly [object, object][] = [
        [
          { fetch: () => Promise.reject(new Error("lost")) },
          { status: undefined, placed: "maybe" },
        ],
        [
          { fetch: async () => new Response("", { status: 503 }) },
          { status: 503, placed: "maybe" },
        ],
        [
          { fetch: async () => new Response("{}", { status: 202 }) },
          { status: 202, placed: "maybe" },
        ],
      ];
      for (const [more, expected] of ways) {
        const { heard, onAttempt } = keeping();
        await exceptionOf(calls.create(params, { ...options, baseUrl, onAttempt, ...more }));
        assert.lengthOf(heard, 1);
        assert.deepInclude(heard[0], expected);
      }
      const timeout = 10_007;
      for (const [answer, status] of [
        [never, undefined],
        [stalled, 202],
      ] as const) {
        for (const end of ["the deadline", "an abort"]) {
          await withHeldTimers(
            (delay) => delay === timeout,
            async ({ fire }) => {
              const { heard, onAttempt } = keeping();
              let sent = 0;
              const fetch = () => {
                sent++;
                return answer();
              };
              const controller = new AbortController();
              const { signal } = controller;
              const call = calls
                .create(params, { ...options, baseUrl, onAttempt, fetch, signal, timeout })
                .catch((reason) => reason);
              await until(() => sent);
              await settle();
              assert.lengthOf(heard, 0);
              if (end === "an abort") controller.abort("enough");
              else await fire(timeout);
              const error = await call;
              if (end === "an abort") assert.equal(error, "enough");
              else assert.equal(error.name, "TimeoutException");
              assert.lengthOf(heard, 1);
              assert.deepInclude(heard[0], { status, placed: "maybe" });
            },
          );
        }
      }
    },
  },
  {
    name: "onAttempt hears of nothing where nothing was sent",
    run: async ({ calls }) => {
      const { heard, onAttempt } = keeping();
      const { fetch } = answeringFetch();
      const create = (more: object) =>
        calls.create(params, { ...options, baseUrl, fetch, onAttempt, ...more });
      await exceptionOf(create({ retries: -1 }));
      await exceptionOf(create({ apiKey: () => Promise.reject(new Error("no")) }));
      await exceptionOf(create({ apiKey: () => new Promise(() => {}), timeout: 20 }));
      assert.lengthOf(heard, 0);
    },
  },
  {
    name: "what onAttempt hears may be logged as it stands: neither key, numbers nor body are in it",
    run: async ({ calls, peer, inspect }) => {
      const { heard, onAttempt } = keeping();
      for (const status of [202, 403, 500]) {
        const { baseUrl } = answering(peer, {
          status,
          json: { detail: `${apiKey} ${from_number} ${to_number}` },
          headers: { "x-request-id": `req-${apiKey}` },
        });
        await exceptionOf(calls.create(params, { ...options, baseUrl, onAttempt }));
      }
      assert.lengthOf(heard, 3);
      for (const secret of [apiKey, from_number.slice(1), to_number.slice(1)]) {
        assert.isFalse(inspect(heard).includes(secret));
      }
    },
  },
  {
    name: "onAttempt can neither fail nor delay a call",
    run: async ({ calls }) => {
      const { fetch } = answeringFetch();
      for (const onAttempt of [
        () => {
          throw new Error("no");
        },
        () => Promise.reject(new Error("no")),
        () => new Promise(() => {}),
      ]) {
        const call = await calls.create(params, { ...options, baseUrl, fetch, onAttempt });
        assert.equal(call.id, "cs_1");
      }
    },
  },
  {
    name: "a server says who calls, unless its headers say otherwise; a page doesn't",
    run: async ({ calls, runtime }) => {
      const { fetch, sent } = answeringFetch();
      await calls.create(params, { ...options, baseUrl, fetch });
      await calls.create(params, {
        ...options,
        baseUrl,
        fetch,
        headers: { "user-agent": "own/1" },
      });
      const [ours, own] = sent.map(({ init }) => new Headers(init.headers).get("user-agent"));
      if (["chromium", "happy-dom"].includes(runtime)) assert.isNull(ours);
      else assert.match(`${ours}`, /^outdial\/\d+\.\d+\.\d+$/);
      // Chromium lets no page set it in a Headers of its own.
      if (runtime !== "chromium") assert.equal(own, "own/1");
    },
  },
];
