import type { Result } from "../../campaigns/index.ts";
import type { Run } from "../command/command.ts";
import { type Exit, exits, Failure } from "../command/failure.ts";
import { openExisting } from "../journal/journal.ts";
import { isLost, print } from "../terminal/output.ts";
import { cell } from "./cell.ts";

const columns = ["to_number", "id", "disposition", "reason", "attempts", "call_id"] as const;

/** A number stays as it is: a spreadsheet takes it for one. */
const rowOf = ({ to_number, ...rest }: Result): string =>
  [to_number, ...columns.slice(1).map((name) => cell(Object(rest)[name]))].join(",");

/** How many rows are written at once. */
const page = 500;

/** @throws {Failure} when a part of it is lost; a reader that left has what it wants */
const finish = (): Exit => {
  if (isLost()) throw new Failure("not all could be written: is the disk full?", exits.refused);
  return exits.done;
};

/** `outdial results`: a row of CSV for each contact. */
export const run: Run<Record<never, never>> = async ({ words: [file = ""] }) => {
  const ledger = await openExisting(file);
  let lines: string[] = [columns.join(",")];
  for (const result of ledger.results()) {
    lines.push(rowOf(result));
    if (lines.length < page) continue;
    if (!(await print(lines.join("\r\n")))) return finish();
    lines = [];
  }
  if (lines.length > 0) await print(lines.join("\r\n"));
  return finish();
};
