/** What a spreadsheet takes for a formula. */
const formula = /^[=+\-@\t\r]/;

/** A cell of CSV that is what it says: a text that would be a formula gets an apostrophe before it. */
export const cell = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  const text = String(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
