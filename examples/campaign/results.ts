import type { Result } from "outdial/campaigns";

const columns = ["id", "disposition", "reason", "attempts", "call_id"] as const;

/** The start of a formula: at the start of the cell, or after a separator of some spreadsheet. */
const formula = /(^|[;|])(["\s]*)(?='*[=+\-@＝＋－＠])/g;

/**
 * A CSV cell. A text that could be a formula gets an apostrophe, also where it has one, for any usual separator. Control characters
 * become spaces.
 */
const cell = (value: string | number = ""): string => {
  if (typeof value === "number") return String(value);
  const text = value.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  const safe = text.replace(formula, "$1$2'");
  return /[",;|]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** An E.164 number needs no apostrophe. */
const rowOf = (result: Result): string =>
  [result.to_number, ...columns.map((name) => cell(result[name]))].join(",");

/** Rows per chunk. */
const page = 500;

/** The results as CSV, created as they are read. */
export const csvOf = (results: AsyncIterable<Result>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  const rest = results[Symbol.asyncIterator]();
  let lines = [["to_number", ...columns].join(",")];
  return new ReadableStream({
    pull: async (controller) => {
      let isDone = false;
      while (!isDone && lines.length < page) {
        const next = await rest.next();
        isDone = next.done === true;
        if (!next.done) lines.push(rowOf(next.value));
      }
      if (lines.length > 0) controller.enqueue(encoder.encode(`${lines.join("\r\n")}\r\n`));
      lines = [];
      if (isDone) controller.close();
    },
    cancel: async () => {
      await rest.return?.();
    },
  });
};
