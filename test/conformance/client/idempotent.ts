import { assert } from "chai";
import type { Attempt, Options } from "outdial";
import { type Answer, answering } from "../../stub-server/answer.ts";
import type { ClientCase, ClientEnv } from "../case.ts";
import { accepted, answeringFetch, apiKey, exceptionOf, options, params } from "../fixtures.ts";
import { settle, until, withHeldTimers } from "../timers.ts";

const baseUrl = "https://voice.test";

/** A deadline that no other timer has, and a third of it. */
const timeout = 30_021;
const third = 10_007;

const lost: Answer = { instead: "drop" };

const coded = (status: number, code: string): Answer => ({ status, json: { detail: code, code } });

const inProgress = coded(409, "idempotency_in_progress");

/** Answers in place, one after the other, the last one for all that follow. */
const answersInPlace = (...answers: readonly (() => Response | Promise<Response>)[]) => {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    sent.push({ url, init });
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    return answer?.() ?? Response.json(accepted.json);
  };
  return { fetch, sent };
};

const status =
  (code: number, body = "", headers: Readonly<Record<string, string>> = {}) =>
  () =>
    new Response(body, { status: code, headers });

const keyIn = ({ init }: { readonly init: RequestInit }): string | null =>
  new Headers(init.headers).get("idempotency-key");

/** Does work with the pauses between two POSTs over at once, and notes them. */
const withoutPauses = async <T>(work: () => Promise<T>): Promise<readonly [T, readonly number[]]> =>
  withHeldTimers(
    (delay) => delay >= 200 && delay <= 2_000,
    async ({ delays, fire }) => {
      const paused: number[] = [];
      let isOver = false;
      const result = work().finally(() => {
        isOver = true;
      });
      result.catch(() => {});
      while (!isOver) {
        await settle(1);
        const [delay] = delays();
        if (delay === undefined) continue;
        paused.push(delay);
        await fire(delay);
      }
      return [await result, paused] as const;
    },
  );

/** What comes of a call whose service answers so, and what the service saw. */
const asked = async (
  { calls, peer }: ClientEnv,
  answers: readonly Answer[],
  more: Partial<Options> = {},
) => {
  const { baseUrl, seen } = answering(peer, ...answers);
  const given = { ...options, baseUrl, timeout, idempotent: true, ...more } as Options;
  const [outcome] = await withoutPauses(() =>
    calls.create(params, given).then(
      ({ id }) => id,
      (error) => error,
    ),
  );
  return { outcome, seen: await seen() };
};

/** Everything after which a repeat is safe, and of use. */
const openEnds: readonly Answer[] = [
  lost,
  { status: 202, body: '{"data":{"id', after: "drop" },
  { status: 202, body: '{"data":{"id' },
  { status: 204 },
  { status: 500 },
  { status: 503, json: { detail: "down" } },
  { status: 599 },
  { status: 429 },
  inProgress,
];

/** What ends the asking: the status of each, and whether it is hidden in a browser. */
const ends: readonly Answer[] = [
  ...[400, 401, 403, 404, 405, 408, 410, 413, 415, 422, 425, 499].map((code) => ({ status: code })),
  ...[300, 303, 307, 308].map((code) => ({
    status: code,
    headers: { location: "https://elsewhere.test/" },
  })),
  coded(409, "idempotency_conflict"),
  { status: 409 },
  coded(400, "idempotency_in_progress"),
];

export const cases: readonly ClientCase[] = [
  {
    name: "idempotent: each create has a key of its own, or the one that is given; without the option there is none",
    run: async ({ Client, calls }) => {
      const { fetch, sent } = answeringFetch();
      const given = { ...options, baseUrl, fetch };
      const { apiKey: key, ...kept } = given;
      const client = new Client(key, { ...kept, idempotent: true });
      await calls.create(params, given);
      await calls.create(params, { ...given, idempotent: false });
      await client.calls.create(params, { idempotent: false });
      await calls.create(params, { ...given, idempotent: true });
      await client.calls.create(params);
      await client.calls.create(params);
      await client.calls.create(params, { idempotencyKey: "message-1_A" });
      await calls.create(params, { ...given, idempotencyKey: "m".repeat(64) });
      const keys = sent.map(keyIn);
      assert.deepEqual(keys.slice(0, 3), [null, null, null]);
      for (const made of keys.slice(3, 6)) assert.match(`${made}`, /^[\da-f-]{36}$/);
      assert.lengthOf(new Set(keys.slice(3)), 5);
      assert.deepEqual(keys.slice(6), ["message-1_A", "m".repeat(64)]);
      // Nothing else of the request is another.
      const [without, , , withKey] = sent.map(
        ({ url, init: { signal: _, body: __, ...init } }) => ({
          url,
          ...init,
          headers: { ...(init.headers as object), "Idempotency-Key": "" },
        }),
      );
      assert.deepEqual(withKey, without && { ...without });
    },
  },
  {
    name: "idempotent: what leaves a call open is asked again with the same key and body, at the same path and host",
    run: async (env) => {
      for (const end of openEnds) {
        const { outcome, seen } = await asked(env, [end, end, accepted]);
        assert.equal(outcome, "cs_1", JSON.stringify(end));
        assert.lengthOf(seen, 3);
        const [first, ...others] = seen.map(({ path, host, body, headers }) => ({
          ...{ path, host, body },
          key: headers["idempotency-key"],
        }));
        assert.match(`${first?.key}`, /^[\da-f-]{36}$/);
        for (const other of others) assert.deepEqual(other, first);
      }
    },
  },
  {
    name: "idempotent: without the option nothing that leaves a call open is asked again",
    run: async (env) => {
      for (const end of openEnds) {
        const { outcome, seen } = await asked(env, [end, accepted], { idempotent: false });
        assert.equal(outcome.placed, end.status === 429 ? "no" : "maybe");
        assert.lengthOf(seen, 1);
      }
    },
  },
  {
    name: "idempotent: once one POST may have placed a call, no answer but the call settles it, and refusals end the asking",
    run: async (env) => {
      for (const end of ends) {
        for (const open of [lost, { status: 503 }]) {
          let keys = 0;
          const ownKey = () => `${apiKey}${keys++}`;
          const { outcome, seen } = await asked(env, [open, end, accepted], { apiKey: ownKey });
          assert.equal(outcome.placed, "maybe", JSON.stringify(end));
          assert.match(outcome.message, /\(a call may have been placed\)$/);
          assert.deepEqual([seen.length, keys], [2, 1], JSON.stringify(end));
        }
      }
    },
  },
  {
    name: "idempotent: a first POST that ends the asking is what it is without the option",
    run: async (env) => {
      for (const end of ends) {
        const given = { path: "calls" } as const;
        const { outcome, seen } = await asked(env, [end, accepted], given);
        const without = await asked(env, [end, accepted], { ...given, idempotent: false });
        const { message, placed, code } = without.outcome;
        assert.deepEqual([outcome.message, outcome.placed], [message, placed]);
        assert.deepEqual([outcome.code, seen.length], [code, 1]);
      }
    },
  },
  {
    name: "idempotent: another path and another API key are tried with the same key, before any POST may have placed a call",
    run: async (env) => {
      for (const code of [404, 405, 410]) {
        const { outcome, seen } = await asked(env, [{ status: code }, { status: 503 }, accepted]);
        assert.equal(outcome, "cs_1");
        assert.deepEqual(
          seen.map(({ path }) => path),
          ["calls", "voice/calls", "voice/calls"].map((path) => `/api/v1/${path}/initiate`),
        );
        assert.lengthOf(new Set(seen.map(({ headers }) => headers["idempotency-key"])), 1);
      }
      let keys = 0;
      const ownKey = () => `ak_key_number_${keys++}`;
      const { outcome, seen } = await asked(env, [{ status: 403 }, lost, accepted], {
        apiKey: ownKey,
      });
      assert.equal(outcome, "cs_1");
      assert.deepEqual(
        seen.map(({ headers }) => headers["x-api-key"]),
        ["ak_key_number_0", "ak_key_number_1", "ak_key_number_1"],
      );
      assert.lengthOf(new Set(seen.map(({ headers }) => headers["idempotency-key"])), 1);
    },
  },
  {
    name: "idempotent: pauses grow from 0.2 s to 2 s, Retry-After is honoured, and one past the deadline ends the asking",
    run: async ({ calls }) => {
      const given = { ...options, baseUrl, timeout, idempotent: true };
      const { fetch } = answersInPlace(...Array(7).fill(status(503)), status(202, '{"id":"cs_1"}'));
      const [call, paused] = await withoutPauses(() => calls.create(params, { ...given, fetch }));
      assert.equal(call.id, "cs_1");
      assert.deepEqual(paused, [200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
      for (const [code, seconds, pauses] of [
        [503, "1", [1_000, 1_000, 1_000, 1_600]],
        [429, "0", [200, 400, 800, 1_600]],
      ] as const) {
        const answer = status(code, "", { "retry-after": seconds });
        const busy = answersInPlace(...Array(4).fill(answer), status(202, '{"id":"cs_1"}'));
        const [, waited] = await withoutPauses(() =>
          calls.create(params, { ...given, fetch: busy.fetch }),
        );
        assert.deepEqual(waited, pauses);
      }
      for (const code of [503, 429]) {
        for (const [seconds, limit] of [
          ["60", timeout],
          ["99999999999", false],
        ] as const) {
          const late = answersInPlace(status(code, "", { "retry-after": seconds }));
          const error = await exceptionOf(
            calls.create(params, { ...given, fetch: late.fetch, timeout: limit }),
          );
          assert.equal(error.code, code);
          assert.equal(error.placed, code === 429 ? "no" : "maybe");
          assert.lengthOf(late.sent, 1);
        }
      }
    },
  },
  {
    name: "idempotent: one POST waits a third of the timeout, or 3 s where there is none, and is then asked again",
    run: async ({ calls, peer }) => {
      for (const [limit, wait] of [
        [timeout, third],
        [false, 3_000],
      ] as const) {
        for (const stall of [
          { instead: "silence" },
          { status: 202, body: "{", after: "stall" },
        ] as const) {
          await withHeldTimers(
            (delay) => [timeout, wait, 200].includes(delay),
            async ({ fire, delays }) => {
              const { baseUrl, seen } = answering(peer, stall, accepted);
              const call = calls.create(params, {
                ...{ ...options, baseUrl, timeout: limit, idempotencyKey: "own" },
              });
              await until(async () => (await seen()).length);
              await settle();
              await fire(wait);
              await fire(200);
              assert.equal((await call).id, "cs_1");
              assert.lengthOf(await seen(), 2);
              assert.lengthOf(delays(), 0, "no timer is left");
            },
          );
        }
      }
    },
  },
  {
    name: "idempotent: a POST after which no time is left for another waits until the deadline, which the exception names",
    run: async ({ calls }) => {
      const now = performance.now.bind(performance);
      const slow = () => {
        performance.now = () => now() + timeout - third;
        return new Response("", { status: 503 });
      };
      await withHeldTimers(
        (delay) => [timeout, third, 200].includes(delay),
        async ({ fire, delays }) => {
          const { fetch, sent } = answersInPlace(slow, () => new Promise<never>(() => {}));
          const given = { ...options, baseUrl, fetch, timeout, idempotent: true };
          try {
            const call = exceptionOf(calls.create(params, given));
            await fire(200);
            await until(() => sent.length === 2);
            await settle();
            assert.deepEqual(delays(), [timeout]);
            await fire(timeout);
            const { message } = await call;
            assert.equal(message, `No answer within ${timeout} ms (a call may have been placed)`);
          } finally {
            performance.now = now;
          }
        },
      );
    },
  },
  {
    name: "idempotent: the deadline ends the asking, also in a pause, and the call may have been placed",
    run: async ({ calls }) => {
      const never = () => new Promise<never>(() => {});
      const ways: readonly (readonly [
        answers: (() => Response | Promise<never>)[],
        posts: number,
      ])[] = [
        [[status(503), never], 2],
        [[status(503), status(403, "{")], 2],
        [[status(503)], 1],
      ];
      for (const [answers, posts] of ways) {
        await withHeldTimers(
          (delay) => [timeout, 200].includes(delay),
          async ({ fire, delays }) => {
            const { fetch, sent } = answersInPlace(...answers);
            const given = { ...options, baseUrl, fetch, timeout, idempotent: true };
            const call = calls.create(params, given).catch((error) => error);
            await until(() => delays().includes(200));
            if (posts === 2) {
              await fire(200);
              await until(() => sent.length === 2);
              await settle();
            }
            if (answers[1] !== undefined && answers[1] !== never) {
              assert.equal((await call).placed, "maybe");
            } else {
              await fire(timeout);
              const { name, placed } = await call;
              assert.deepEqual([name, placed], ["TimeoutException", "maybe"]);
            }
            await settle();
            assert.lengthOf(sent, posts);
            assert.lengthOf(delays(), 0, "no timer is left");
          },
        );
      }
    },
  },
  {
    name: "idempotent: notAfter and beforeSend are looked at before each POST, and neither takes back a maybe",
    run: async ({ calls }) => {
      const given = { ...options, baseUrl, timeout, idempotent: true };
      const notAfter = new Date(Date.now() + 3_600_000);
      const passing = answersInPlace(() => {
        notAfter.setTime(0);
        return new Response("", { status: 503 });
      });
      const [late] = await withoutPauses(() =>
        exceptionOf(calls.create(params, { ...given, notAfter, fetch: passing.fetch })),
      );
      assert.deepEqual([late.name, late.placed], ["TimeoutException", "maybe"]);
      assert.equal(late.message, "notAfter has passed (a call may have been placed)");
      assert.lengthOf(passing.sent, 1);
      let sends = 0;
      const beforeSend = () => {
        if (sends++ > 0) throw new Error("stop");
      };
      const { fetch, sent } = answersInPlace(status(503));
      const [stopped] = await withoutPauses(() =>
        exceptionOf(calls.create(params, { ...given, beforeSend, fetch })),
      );
      assert.deepEqual([stopped.code, stopped.placed], [503, "maybe"]);
      assert.deepEqual([sends, sent.length], [2, 1]);
    },
  },
  {
    name: "idempotent: an abort ends the asking with the signal's reason, and no timer is left",
    run: async ({ calls }) => {
      const never = () => new Promise<never>(() => {});
      for (const answer of [never, status(503)]) {
        await withHeldTimers(
          (delay) => [timeout, third, 200].includes(delay),
          async ({ delays }) => {
            const { fetch, sent } = answersInPlace(answer);
            const { signal, abort } = ((controller) => ({
              signal: controller.signal,
              abort: () => controller.abort("enough"),
            }))(new AbortController());
            const given = { ...options, baseUrl, fetch, timeout, signal, idempotent: true };
            const call = calls.create(params, given).catch((reason) => reason);
            await until(() => sent.length && delays().includes(answer === never ? third : 200));
            abort();
            assert.equal(await call, "enough");
            await settle();
            assert.lengthOf(sent, 1);
            assert.lengthOf(delays(), 0);
          },
        );
      }
    },
  },
  {
    name: "idempotent: an answer that comes after its POST was given up changes nothing",
    run: async ({ calls }) => {
      for (const [code, body] of [
        [403, "{}"],
        [202, '{"id":"cs_late"}'],
      ] as const) {
        await withHeldTimers(
          (delay) => [timeout, third, 200].includes(delay),
          async ({ fire }) => {
            let answerFirst = () => {};
            const first = new Promise<Response>((resolve) => {
              answerFirst = () => resolve(new Response(body, { status: code }));
            });
            const heard: Attempt[] = [];
            const { fetch, sent } = answersInPlace(
              () => first,
              () => new Promise<never>(() => {}),
            );
            const onAttempt = (attempt: Attempt) => void heard.push(attempt);
            const given = { ...options, baseUrl, fetch, timeout, idempotent: true, onAttempt };
            const call = exceptionOf(calls.create(params, given));
            await fire(third);
            await fire(200);
            await until(() => sent.length === 2);
            answerFirst();
            await settle();
            await fire(timeout);
            const { name, placed, code: last } = await call;
            assert.deepEqual([name, placed, last], ["TimeoutException", "maybe", undefined]);
            assert.deepEqual(
              heard.map((attempt) => [attempt.attempt, attempt.placed, attempt.status]),
              [
                [1, "maybe", undefined],
                [2, "maybe", undefined],
              ],
            );
          },
        );
      }
    },
  },
  {
    name: "idempotent: a call of other numbers in the answer is a maybe, and ends the asking",
    run: async (env) => {
      for (const [data, isOther] of [
        [{ to_number: "+12025550100" }, true],
        [{ from_number: "+12025550100" }, true],
        [{ to_number: null }, false],
        [{ from_number: undefined }, false],
        [{ status_callback_url: "https://other.test" }, false],
      ] as const) {
        const json = { data: { ...accepted.json.data, ...data } };
        for (const before of [[], [lost]]) {
          const answers = [...before, { status: 202, json }, accepted];
          const { outcome, seen } = await asked(env, answers);
          if (isOther) {
            assert.equal(outcome.name, "ServiceException");
            assert.deepEqual([outcome.placed, outcome.code], ["maybe", 202]);
          } else assert.equal(outcome, "cs_1");
          assert.lengthOf(seen, before.length + 1);
        }
        const without = await asked(env, [{ status: 202, json }], { idempotent: false });
        assert.equal(without.outcome, "cs_1");
      }
    },
  },
  {
    name: "idempotent: a redirect that a fetch of the caller's followed ends the asking",
    run: async ({ calls }) => {
      for (const code of [200, 202, 429, 500, 503]) {
        for (const before of [[], [status(503)]]) {
          const moved = () =>
            Object.defineProperty(status(code, '{"id":"cs_1"}')(), "redirected", { value: true });
          const { fetch, sent } = answersInPlace(...before, moved, status(202, '{"id":"cs_1"}'));
          const [error] = await withoutPauses(() =>
            exceptionOf(
              calls.create(params, { ...options, baseUrl, timeout, fetch, idempotent: true }),
            ),
          );
          assert.deepEqual([error.placed, error.code], ["maybe", code]);
          assert.lengthOf(sent, before.length + 1);
        }
      }
    },
  },
  {
    name: "idempotent: nothing is asked for 12 hours after its first POST, as a key is kept for 24",
    run: async ({ calls }) => {
      const { now } = Date;
      const aDay = 86_400;
      /** The machine sleeps: its timers stand still. */
      const sleeps = () => {
        Date.now = () => now() + aDay * 1_000;
        throw new TypeError("lost");
      };
      const lost = () => {
        throw new TypeError("lost");
      };
      const later = status(429, "", { "retry-after": `${aDay}` });
      for (const answers of [[sleeps], [lost, later]]) {
        const { fetch, sent } = answersInPlace(...answers, status(202, '{"id":"cs_1"}'));
        try {
          const [error] = await withoutPauses(() =>
            exceptionOf(
              calls.create(params, {
                ...options,
                baseUrl,
                timeout: false,
                fetch,
                idempotent: true,
              }),
            ),
          );
          assert.equal(error.placed, "maybe");
          assert.lengthOf(sent, answers.length);
        } finally {
          Date.now = now;
        }
      }
    },
  },
  {
    name: "idempotent: onAttempt reports each POST, and maybe for each after the first that was",
    run: async (env) => {
      const heard: Attempt[] = [];
      const onAttempt = (attempt: Attempt) => void heard.push(attempt);
      await asked(env, [{ status: 429 }, { status: 503 }, { status: 429 }, accepted], {
        onAttempt,
      });
      assert.deepEqual(
        heard.map(({ attempt, status, placed }) => [attempt, status, placed]),
        [
          [1, 429, "no"],
          [2, 503, "maybe"],
          [3, 429, "maybe"],
          [4, 202, "yes"],
        ],
      );
    },
  },
  {
    name: "idempotent: a client has no idempotencyKey, the key of the account isn't in one, and headers have none",
    run: async ({ Client, calls }) => {
      const { fetch, sent } = answeringFetch();
      const given = { ...options, baseUrl, fetch };
      const { apiKey: key, ...kept } = given;
      const own = { ...kept, idempotencyKey: "key" };
      const make = (async () => new Client(key, own as never))();
      for (const [attempt, param, rule] of [
        [make, "idempotencyKey", "must be an option of one call"],
        [calls.create(params, { ...given, idempotencyKey: key }), "apiKey", "must not be in"],
        [
          calls.create(params, { ...given, idempotent: true, headers: { "idempotency-key": "1" } }),
          "headers",
          "must be",
        ],
      ] as const) {
        const error = await exceptionOf(attempt);
        assert.equal(error.name === "BadParametersException" && error.param, param);
        assert.include(error.message, rule);
        assert.equal(error.placed, "no");
      }
      assert.lengthOf(sent, 0);
    },
  },
];
