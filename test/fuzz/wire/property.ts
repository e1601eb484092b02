import { assert } from "chai";
import fc from "fast-check";
import { isException } from "outdial";
import { entries } from "../../conformance/entries.ts";
import { apiKey, from_number, options, params, to_number } from "../../conformance/fixtures.ts";
import type { Fuzzed } from "../fuzzed.ts";
import { accepts, plan, type Seen } from "./plan.ts";

/** Where the server is told what to do, and where it does it. */
export interface Ports {
  readonly control: number;
  readonly wire: number;
}

const deadline = 150;
const margin = 3_000;

/** Holds calls to the same promises over real connections, whatever bytes come back. */
export const fuzzWire = async (
  { control, wire }: Ports,
  inspect: (value: unknown) => string,
  seed: number,
  numRuns: number,
): Promise<Fuzzed> => {
  const count = { runs: 0, placed: 0, no: 0, maybe: 0, aborted: 0 };
  const { fetch } = globalThis;
  const ask = `http://127.0.0.1:${control}`;
  const later: (() => Promise<void>)[] = [];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...entries), plan, fc.nat(2), async (entry, told, retries) => {
      const id = await (
        await fetch(`${ask}/plan`, { method: "POST", body: JSON.stringify(told) })
      ).text();
      const seen = async (): Promise<Seen> => (await fetch(`${ask}/seen/${id}`)).json();
      const began = Date.now();
      const settled: unknown = await entry.calls
        .create(params, {
          ...{ ...options, retries, baseUrl: `http://127.0.0.1:${wire}/${id}` },
          timeout: deadline,
        })
        .catch((error: unknown) => error);
      assert.isBelow(Date.now() - began, deadline + margin, "it ended late");
      const { posts } = await seen();
      count.runs++;
      if (accepts(told)) assert.isAtMost(posts, 1, "more than one POST may have placed a call");
      later.push(async () =>
        assert.equal((await seen()).posts, posts, "a POST left after the end"),
      );
      if (!isException(settled)) {
        assert.isString(Object(settled).id, `not documented: ${String(settled)}`);
        count.placed++;
        return;
      }
      count[settled.placed]++;
      if (settled.placed === "no")
        assert.isFalse(accepts(told) && posts > 0, `"no", but: ${settled.message}`);
      const shown = inspect(settled);
      for (const secret of [apiKey, from_number.slice(1), to_number.slice(1)])
        assert.isFalse(shown.includes(secret), "shown");
    }),
    { seed, numRuns },
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  for (const check of later) await check();
  return count;
};
