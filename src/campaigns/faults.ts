import { type Disposition, isFlowWorking } from "./disposition.ts";
import { setStateOfCampaign } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
import { factOf, setFact } from "./tables.ts";

/** How many answers in a row asked to wait; a placed call resets it. */
const deferralsInRow = "deferrals_in_row";

/** How many answers of a service in a row refused their contact; a call that it placed resets it. */
const refusalsOf = (service: string | undefined): string =>
  service === undefined ? "refusals_in_row" : `refusals_in_row ${service}`;

/** How many answered calls in a row had a flow that failed; a completed call resets it. */
const flowErrorsInRow = "flow_errors_in_row";

/** How many contacts in a row may end by the same fault. */
const mostInRow = 20;

/** A call was placed: its service works. */
export const resetFaults = (sql: Sql, service: string | undefined): void => {
  sql.all(
    "update outdial_fact set value = 0 where name in (?, ?) and value > 0",
    deferralsInRow,
    refusalsOf(service),
  );
};

/** How many answers in a row asked to wait. */
export const deferralsNow = (sql: Sql): number => Number(factOf(sql, deferralsInRow));

/** Counts an answer that asked to wait. @returns how many there were in a row */
export const countDeferral = (sql: Sql): number => {
  const inRow = deferralsNow(sql) + 1;
  setFact(sql, deferralsInRow, inRow);
  return inRow;
};

/**
 * Counts a fault.
 *
 * @returns whether there were 20 in a row: then it is the campaign's, such as a wrong sender or secret, which pauses
 */
const isTooMany = (sql: Sql, inRow: string): boolean => {
  const count = Number(factOf(sql, inRow) ?? 0) + 1;
  const isLast = count >= mostInRow;
  setFact(sql, inRow, isLast ? 0 : count);
  return isLast;
};

/**
 * Counts a contact that a service refused.
 *
 * @returns why the service pauses, if it does
 */
export const countRefusal = (
  sql: Sql,
  service: string | undefined,
  detail: string,
): string | undefined =>
  isTooMany(sql, refusalsOf(service))
    ? `${mostInRow} contacts in a row were refused: ${detail}`
    : undefined;

/** Counts an answered call whose flow failed, or resets the count after one whose flow did not. */
export const countFlow = (
  sql: Sql,
  disposition: Disposition,
  at: number,
  detail: string | undefined,
): void => {
  const isWorking = isFlowWorking(disposition);
  if (isWorking === false) {
    if (!isTooMany(sql, flowErrorsInRow)) return;
    const why = detail ? `: ${detail}` : "";
    const reason = `the flow of ${mostInRow} calls in a row failed${why}`;
    setStateOfCampaign(sql, "paused", { at, event: "paused", reason });
  } else if (isWorking && factOf(sql, flowErrorsInRow)) setFact(sql, flowErrorsInRow, 0);
};
