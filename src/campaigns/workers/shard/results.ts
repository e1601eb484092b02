import type { Disposition } from "../../disposition.ts";
import type { Result } from "../../ledger/results.ts";
import { toLines } from "../wire/lines.ts";
import type { Wanted } from "../wire/protocol.ts";

/** How many results are made at once. */
const page = 500;

function* withDisposition(results: Iterable<Result>, only: Disposition): Generator<Result, void> {
  for (const result of results) if (result.disposition === only) yield result;
}

/** Results as lines of JSON: all, or those with one disposition. */
export const resultLines = (
  results: Iterable<Result>,
  { only }: Wanted,
): ReadableStream<Uint8Array> => toLines(only ? withDisposition(results, only) : results, page);
