import { assert } from "chai";
import fc from "fast-check";
import { isException } from "outdial";
import { apiKey, from_number, options, params, to_number } from "../../conformance/fixtures.ts";
import type { Fuzzed, Subject } from "../fuzzed.ts";
import { platformFetch, sent } from "./fetch.ts";
import { accepts, planWith, type Seen } from "./plan.ts";

/** Where the server is given what to do, and where it does it. */
export interface Ports {
  readonly control: number;
  readonly wire: number;
}

/** Milliseconds until the deadline, of a call that only a deadline ends, and of the others. */
const deadlines = { stall: 150, close: 3_000, reset: 3_000 } as const;

/** Milliseconds after which a call has hung, however busy the machine is. */
const tooLate = 60_000;

/** Holds calls to the same promises over real connections, whatever bytes come back. */
export const fuzzWire = async (
  { entries, carrier }: Subject,
  { control, wire }: Ports,
  inspect: (value: unknown) => string,
  seed: number,
  numRuns: number,
): Promise<Fuzzed> => {
  const count = { runs: 0, placed: 0, no: 0, maybe: 0, aborted: 0 };
  const ask = `http://127.0.0.1:${control}`;
  const later: (() => Promise<void>)[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...entries),
      planWith(carrier),
      fc.nat(2),
      async (entry, reported, retries) => {
        const id = await (
          await platformFetch(`${ask}/plan`, { method: "POST", body: JSON.stringify(reported) })
        ).text();
        const seen = async (): Promise<Seen> => (await platformFetch(`${ask}/seen/${id}`)).json();
        let isLate = false;
        const late = setTimeout(() => {
          isLate = true;
        }, tooLate);
        const settled: unknown = await entry.calls
          .create(params, {
            ...{ ...options, retries, baseUrl: `http://127.0.0.1:${wire}/${id}` },
            timeout: deadlines[reported.end],
          })
          .catch((error: unknown) => error);
        clearTimeout(late);
        assert.isFalse(isLate, "it ended late");
        const sentAtEnd = sent.get(id);
        count.runs++;
        later.push(async () => {
          assert.equal(sent.get(id), sentAtEnd, "a POST left after the end");
          const { posts } = await seen();
          if (accepts(reported, entry.refuses))
            assert.isAtMost(posts, 1, "more than one POST may have placed a call");
          if (isException(settled) && settled.placed === "no")
            assert.isFalse(
              accepts(reported, entry.refuses) && posts > 0,
              `"no", but: ${settled.message}`,
            );
        });
        if (!isException(settled)) {
          const { id } = Object(settled);
          if (typeof id !== "string") throw new Error(`not documented: ${inspect(settled)}`);
          count.placed++;
          return;
        }
        if (!settled.placed) throw new Error("without placed");
        count[settled.placed]++;
        const shown = inspect(settled);
        for (const secret of [apiKey, from_number.slice(1), to_number.slice(1)])
          assert.isFalse(shown.includes(secret), "shown");
      },
    ),
    { seed, numRuns },
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const check of later) await check();
  return count;
};
