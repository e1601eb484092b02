import { assert } from "chai";
import fc from "fast-check";
import { type Attempt, isException } from "outdial";
import { line } from "./fetches.ts";
import type { Fuzzed, Subject } from "./fuzzed.ts";
import { keyOf, telling } from "./secrets.ts";
import { mayPlace, step } from "./service.ts";

/** The deadline of a call, in milliseconds; a token that is signed for each POST takes a while on a busy machine. */
const deadlineOf = ({ carrier }: Subject): number => (carrier?.hasOwnKeys ? 1_500 : 60);

/** The same where it asks again: after pauses from 200 ms on. */
const longerDeadline = 900;

/** Milliseconds after which a call has hung, however busy the machine is. */
const tooLate = 60_000;

/** The most that an exception may show, in characters: what a service says is bounded. */
const mostShown = 64 * 1024;

const from_number = "+12025550177";
const to_number = "+12025550188";
const params = {
  from_number,
  to_number,
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

/** One call: its keys, what becomes of each POST, and the odd ways of who makes it. */
/** The answers that come at once, beside three that take a while: more where a deadline is long. */
const atOnce = ({ carrier }: Subject) => Array(carrier?.hasOwnKeys ? 9 : 3).fill(0);

const callOf = (subject: Subject, deadline: number) =>
  keyOf(subject.carrier).chain((apiKey) =>
    fc.record({
      entry: fc.constantFrom(...subject.entries),
      apiKey: fc.constant(apiKey),
      steps: fc.array(
        step(telling({ key: apiKey, numbers: [from_number, to_number] }, subject.carrier)),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      heeds: fc.boolean(),
      wait: fc.constantFrom(...atOnce(subject), 1, deadline - 10, deadline + 20),
      retries: fc.nat(2),
      path: fc.constantFrom("auto" as const, "calls" as const),
      keys: fc.constantFrom("text", "function", "another", "late", "fails later"),
      abort: fc.constantFrom(undefined, undefined, 1, deadline - 20),
      // No carrier keeps keys.
      idempotent: fc.constantFrom(false, false, false, false, !subject.carrier),
    }),
  );

type Keys = (apiKey: string, deadline: number) => string | (() => string | Promise<string>);

/** The ways to give a key; after a 403 it is asked for again. */
const keysBy: Readonly<Record<string, Keys>> = {
  text: (apiKey) => apiKey,
  function: (apiKey) => () => apiKey,
  another: (apiKey) => {
    let asked = 0;
    return () => (asked++ ? `${apiKey}-other` : apiKey);
  },
  late: (apiKey, deadline) => {
    let asked = 0;
    return async () => {
      if (asked++ === 0) return apiKey;
      await new Promise((resolve) => setTimeout(resolve, deadline));
      return `${apiKey}-other`;
    };
  },
  "fails later": (apiKey) => {
    let asked = 0;
    return () => (asked++ ? Promise.reject(new Error(apiKey)) : apiKey);
  },
};

/**
 * Makes calls of every odd kind, and holds each to the promises: it ends in time, with a call, with a
 * documented exception or with the caller's own reason; `"no"` means that nothing was accepted, then or
 * later; at most one POST may have been, or all that were from then on are the same with one key; and no secret is shown, in any of the spellings that redaction knows.
 */
export const fuzz = async (
  subject: Subject,
  inspect: (value: unknown) => string,
  seed: number,
  numRuns: number,
): Promise<Fuzzed> => {
  const deadline = deadlineOf(subject);
  const count = { runs: 0, placed: 0, no: 0, maybe: 0, aborted: 0 };
  const later: (() => void)[] = [];
  await fc.assert(
    fc.asyncProperty(
      callOf(subject, deadline),
      async ({ entry, apiKey, steps, heeds, wait, abort, keys, idempotent, ...options }) => {
        const { fetch: answer, seen } = line(steps, heeds, wait, entry.refuses);
        const idempotencyKeys = new Set<string | null>();
        const sameFromThen = new Set<string>();
        const fetch = (url: string, init: RequestInit) => {
          const sent = answer(url, init);
          const headers = new Headers(init.headers);
          idempotencyKeys.add(headers.get("idempotency-key"));
          if (seen().accepted > 0)
            sameFromThen.add(JSON.stringify([url, init.body, Object.fromEntries(headers)]));
          return sent;
        };
        const attempts: Attempt[] = [];
        const controller = new AbortController();
        const reason = new Error("enough");
        const timer = abort && setTimeout(() => controller.abort(reason), abort);
        let isLate = false;
        const late = setTimeout(() => {
          isLate = true;
        }, tooLate);
        const settled: unknown = await entry.calls
          .create(params, {
            ...options,
            apiKey: keysBy[keys]?.(apiKey, deadline) ?? apiKey,
            baseUrl: "https://voice.test",
            dangerouslyAllowBrowser: true,
            fetch,
            signal: controller.signal,
            timeout: idempotent ? longerDeadline : deadline,
            ...(idempotent && { idempotent }),
            onAttempt: (attempt) => attempts.push(attempt),
          })
          .catch((error: unknown) => error);
        clearTimeout(timer);
        clearTimeout(late);
        assert.isFalse(isLate, "it ended late");
        const { posts, accepted } = seen();
        count.runs++;
        if (!idempotent) assert.isAtMost(accepted, 1, "more than one POST may have placed a call");
        assert.isAtMost(idempotencyKeys.size, 1, "more than one key");
        assert.equal([...idempotencyKeys].some(Boolean), idempotent && posts > 0);
        assert.isAtMost(sameFromThen.size, 1, "another request after one that may have placed");
        // What has settled sends nothing more, and has reported each POST.
        later.push(() => {
          assert.deepEqual(seen(), { posts, accepted }, "a POST left after the end");
          assert.lengthOf(attempts, posts);
        });
        if (settled === reason) {
          count.aborted++;
        } else if (isException(settled)) {
          if (!settled.placed) throw new Error("without placed");
          count[settled.placed]++;
          if (settled.placed === "no") assert.equal(accepted, 0, `"no", but: ${settled.message}`);
          if (posts > 0) assert.notEqual(settled.name, "BadParametersException");
          const last = steps[Math.min(posts, steps.length) - 1];
          // A carrier's refusal with the id of a call contradicts itself.
          const isClear = !subject.carrier || !last?.body.includes('"id":"cs_1"');
          const isRefused = last && !mayPlace(last, entry.refuses) && isClear && accepted === 0;
          if (isRefused && settled.name !== "TimeoutException")
            assert.equal(settled.placed, "no", `refused, but: ${settled.message}`);
        } else {
          const { id } = Object(settled);
          // Not by String(): what a carrier sends at the top of its answer are fields of the call, a toString too.
          if (typeof id !== "string") throw new Error(`not documented: ${inspect(settled)}`);
          assert.isAtLeast(accepted, 1);
          count.placed++;
          return;
        }
        const shown = [settled, attempts]
          .flatMap((each) => [inspect(each), JSON.stringify(each), String(Object(each).stack)])
          .join("\n");
        assert.isBelow(shown.length, mostShown, "it keeps too much");
        const tokens = steps.flatMap((one) => one.tokens);
        for (const secret of [...tokens, apiKey, from_number.slice(1), to_number.slice(1)]) {
          const written = [secret, JSON.stringify(secret).slice(1, -1)];
          for (const one of written)
            assert.isFalse(shown.toLowerCase().includes(one.toLowerCase()), `shown: ${one}`);
        }
      },
    ),
    { seed, numRuns, endOnFailure: false },
  );
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  for (const check of later) check();
  return count;
};
