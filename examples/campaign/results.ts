import type { Result } from "outdial/campaigns";

const columns = ["id", "disposition", "reason", "attempts", "call_id"] as const;

/** Where a cell begins for some spreadsheet: at its start, or behind what that takes for a separator. */
const formula = /(^|[;|])(["\s]*)(?=[=+\-@])/g;

/**
 * A cell of CSV that is what it says: a text that would be a formula gets an apostrophe before it, also
 * where a spreadsheet separates by something else than commas. What a terminal would obey is a blank.
 */
const cell = (value: string | number = ""): string => {
  if (typeof value === "number") return String(value);
  const text = value.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  const safe = text.replace(formula, "$1$2'");
  return /[",;|]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** A number stays as it is: a spreadsheet takes it for one. */
const rowOf = (result: Result): string =>
  [result.to_number, ...columns.map((name) => cell(result[name]))].join(",");

/** How many rows are sent at once. */
const page = 500;

/** What became of each contact, as CSV, made as it is read. */
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
