import { plain } from "../terminal/plain.ts";

/** Where a cell begins for some spreadsheet: at its start, or behind what that takes for a separator. */
const formula = /(^|[;|])(["\s]*)(?=[=+\-@])/g;

/**
 * A cell of CSV that is what it says: a text that would be a formula gets an apostrophe before it, also
 * where a spreadsheet separates by something else than commas. What a terminal would obey is a blank.
 */
export const cell = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = plain(String(value)).replace(formula, "$1$2'");
  return /[",;|]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
