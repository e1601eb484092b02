import type { Result } from "outdial/campaigns";

const timeOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();

/** The service's ids of recordings. */
const idsOf = (recordings: Result["recordings"]): string =>
  recordings.map(({ recording_id }) => recording_id).join(" ");

/** The columns after the number, as `outdial results` has them. */
const columns: Readonly<Record<string, (result: Result) => string | number | undefined>> = {
  id: ({ id }) => id,
  disposition: ({ disposition }) => disposition,
  reason: ({ reason }) => reason,
  attempts: ({ attempts }) => attempts,
  call_id: ({ call_id }) => call_id,
  started_at: ({ startedAt }) => timeOf(startedAt),
  ended_at: ({ endedAt }) => timeOf(endedAt),
  duration: ({ duration }) => (duration === undefined ? undefined : duration / 1000),
  answered_by: ({ answered_by }) => answered_by,
  cost: ({ cost }) => cost,
  currency: ({ currency }) => currency,
  recordings: ({ recordings }) => idsOf(recordings),
};

/** The start of a formula: at the start of the cell, or after a separator of some spreadsheet. */
const formula = /(^|[;|])(["\s]*)(?='*[=+\-@＝＋－＠])/g;

/** A number below 0, which is no formula. */
const amount = /^-\d+\.\d+$/;

/**
 * A CSV cell. A text that could be a formula gets an apostrophe, also where it has one, for any usual separator. Control characters
 * become spaces.
 */
const cell = (value: string | number = ""): string => {
  if (typeof value === "number" || amount.test(value)) return String(value);
  const text = value.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  const safe = text.replace(formula, "$1$2'");
  return /[",;|]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** An E.164 number needs no apostrophe. */
const rowOf = (result: Result, answers: readonly string[]): string =>
  [
    result.to_number,
    ...Object.values(columns).map((of) => cell(of(result))),
    ...answers.map((name) =>
      cell(result.answers[name] ?? idsOf(result.recordings.filter(({ as }) => as === name))),
    ),
  ].join(",");

/** Rows per chunk. */
const page = 500;

/**
 * The results as CSV, created as they are read.
 *
 * @param answers - the names of the questions, each of which has a column
 */
export const csvOf = (
  results: AsyncIterable<Result>,
  answers: readonly string[],
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  const rest = results[Symbol.asyncIterator]();
  let lines = [["to_number", ...Object.keys(columns), ...answers].join(",")];
  return new ReadableStream({
    pull: async (controller) => {
      let isDone = false;
      while (!isDone && lines.length < page) {
        const next = await rest.next();
        isDone = next.done === true;
        if (!next.done) lines.push(rowOf(next.value, answers));
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
