import type { Postman } from "./postman.ts";
import type { Service } from "./service.ts";

/** A row of `outdial results`. */
interface Row {
  readonly contact: number;
  readonly to_number: string;
  readonly disposition: string;
  readonly attempts: number;
}

export const rowsOf = (csv: string): readonly Row[] =>
  csv
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line, index) => {
      const [to_number = "", , disposition = "", , attempts] = line.split(",");
      return { contact: index + 1, to_number, disposition, attempts: Number(attempts) };
    });

const most = 10;

/** What a call may count as whose notification nobody took: Twilio's call doesn't tell that it was rejected. */
const askedFor = (disposition: string): readonly string[] => [
  disposition,
  ...(disposition === "rejected" ? ["no_answer"] : []),
];

/** Everything that must not be, as lines. */
export const faultsIn = (
  rows: readonly Row[],
  { posts }: Service,
  { finals }: Postman,
): readonly string[] => {
  const faults: string[] = [];
  const seen = new Map<string, number>();
  for (const { key, isNo } of posts) if (!isNo) seen.set(key, (seen.get(key) ?? 0) + 1);
  for (const [key, count] of seen) if (count > 1) faults.push(`${key}: ${count} POSTs`);
  for (const { contact, to_number, disposition, attempts } of rows) {
    const key = `${contact}/${attempts}`;
    const reported = finals.get(key);
    const known = reported?.isTaken
      ? [reported.disposition]
      : askedFor(reported?.disposition ?? "");
    const numbers = new Set(
      posts.filter((post) => post.key.startsWith(`${contact}/`)).map((post) => post.to_number),
    );
    for (const number of numbers) {
      if (number !== to_number)
        faults.push(`${contact}: is ${to_number}, and ${number} was called`);
    }
    if (!disposition) faults.push(`${contact}: has not ended`);
    else if (reported && !reported.lost && !known.includes(disposition)) {
      faults.push(`${key}: is ${disposition}, was ${reported.disposition}`);
    } else if (reported?.lost && !["unknown", ...known].includes(disposition)) {
      faults.push(`${key}: is ${disposition}, and its end, ${reported.disposition}, was lost`);
    } else if (!reported && !["unknown", "refused", "expired"].includes(disposition)) {
      faults.push(`${key}: is ${disposition}, and no end was sent`);
    }
  }
  return faults.length > most ? [...faults.slice(0, most), `… ${faults.length} in all`] : faults;
};
