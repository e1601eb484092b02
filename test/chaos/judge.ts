import type { Postman } from "./postman.ts";
import type { Service } from "./service.ts";

/** A row of `outdial results`. */
interface Row {
  readonly contact: number;
  readonly to_number: string;
  readonly disposition: string;
  readonly attempts: number;
  /** The name of the service, where the list has several. */
  readonly service?: string | undefined;
}

export const rowsOf = (csv: string): readonly Row[] => {
  const [header = "", ...lines] = csv.trim().split(/\r?\n/);
  const column = header.split(",").indexOf("service");
  return lines.map((line, index) => {
    const cells = line.split(",");
    const [to_number = "", , disposition = "", , attempts] = cells;
    const service = cells[column];
    return { contact: index + 1, to_number, disposition, attempts: Number(attempts), service };
  });
};

const most = 10;

/** What a call may count as whose notification nobody took: Twilio's call doesn't tell that it was rejected. */
const askedFor = (disposition: string): readonly string[] => [
  disposition,
  ...(disposition === "rejected" ? ["no_answer"] : []),
];

/** Everything that must not be, as lines. */
export const faultsIn = (
  rows: readonly Row[],
  { posts }: Pick<Service, "posts">,
  { finals, counts }: Postman,
): readonly string[] => {
  const faults: string[] = [];
  const seen = new Map<string, number>();
  for (const { key, isNo } of posts) if (!isNo) seen.set(key, (seen.get(key) ?? 0) + 1);
  for (const [key, count] of seen) if (count > 1) faults.push(`${key}: ${count} POSTs`);
  if (counts.believed > 0) faults.push(`${counts.believed} forged notifications were believed`);
  for (const { contact, to_number, disposition, attempts, service } of rows) {
    const key = `${contact}/${attempts}`;
    const placed = posts.find((post) => post.key === key && !post.isNo);
    if (placed?.service !== undefined && placed.service !== service) {
      faults.push(`${key}: is at ${service}, and was placed at ${placed.service}`);
    }
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
