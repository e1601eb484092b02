import { type Disposition, isFlowWorking } from "./disposition.ts";
import { setStateOfCampaign } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
import { factOf, setFact } from "./tables.ts";

/** How many answers in a row asked to wait; a placed call resets it. */
const deferralsInRow = "deferrals_in_row";

/** How many answers in a row refused their contact; a placed call resets it. */
const refusalsInRow = "refusals_in_row";

/** How many answered calls in a row had a flow that failed; a completed call resets it. */
const flowErrorsInRow = "flow_errors_in_row";

/** How many contacts in a row may end by the same fault. */
const mostInRow = 20;

/** A call was placed: the service works. */
export const resetFaults = (sql: Sql): void => {
  sql.all(
    "update outdial_fact set value = 0 where name in (?, ?) and value > 0",
    deferralsInRow,
    refusalsInRow,
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

/** Counts a fault. After 20 in a row it is the campaign's, such as a wrong sender or secret: it pauses. */
const countFault = (sql: Sql, inRow: string, at: number, reason: string): void => {
  const count = Number(factOf(sql, inRow) ?? 0) + 1;
  const isLast = count >= mostInRow;
  setFact(sql, inRow, isLast ? 0 : count);
  if (isLast) setStateOfCampaign(sql, "paused", { at, event: "paused", reason });
};

/** Counts a contact that the service refused. */
export const countRefusal = (sql: Sql, at: number, detail: string): void =>
  countFault(sql, refusalsInRow, at, `${mostInRow} contacts in a row were refused: ${detail}`);

/** Counts an answered call whose flow failed, or resets the count after one whose flow did not. */
export const countFlow = (
  sql: Sql,
  disposition: Disposition,
  at: number,
  detail: string | undefined,
): void => {
  const isWorking = isFlowWorking(disposition);
  if (isWorking === false) {
    const why = detail ? `: ${detail}` : "";
    countFault(sql, flowErrorsInRow, at, `the flow of ${mostInRow} calls in a row failed${why}`);
  } else if (isWorking && factOf(sql, flowErrorsInRow)) setFact(sql, flowErrorsInRow, 0);
};
