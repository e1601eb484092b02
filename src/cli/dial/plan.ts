import type { Added, Progress } from "../../campaigns/index.ts";
import { spanOf } from "./duration.ts";
import type { DialOptions } from "./settings.ts";

/** How many refused lines are told by number. */
const most = 20;

const many = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** Why lines were refused: the reasons, and which lines. */
const refusals = ({ refused }: Added): readonly string[] => {
  const lines = new Map<string, number[]>();
  for (const { line, reason } of refused) lines.set(reason, [...(lines.get(reason) ?? []), line]);
  return [...lines].map(([reason, all]) => {
    const more = all.length > most ? ` and ${all.length - most} more` : "";
    return `  refused: ${reason}: line ${all.slice(0, most).join(", ")}${more}`;
  });
};

const hoursOf = ({ window }: DialOptions): string => {
  if (window === "always") return "at any hour";
  return [window]
    .flat()
    .map(({ days, from, to, timezone }) => `${days} ${from}-${to} ${timezone}`)
    .join(", ");
};

/** What is about to happen, in a few lines. */
export const planOf = (
  added: Added,
  progress: Progress,
  options: DialOptions,
): readonly string[] => {
  const { rate = 1, record, until, perDay } = options;
  const { waiting, contacts } = progress;
  const notes = [
    added.duplicate > 0 &&
      `${added.duplicate.toLocaleString("en")} are in the journal already, or twice in the list`,
    progress.skipped > 0 && `${progress.skipped.toLocaleString("en")} on the do-not-call list`,
    added.refused.length > 0 && `${added.refused.length.toLocaleString("en")} refused`,
  ].filter((note) => note !== false);
  return [
    `${many(waiting, "contact")} to call, of ${many(contacts, "contact")}${notes.map((note) => `; ${note}`).join("")}`,
    ...refusals(added),
    `  ${rate} a second: ${spanOf(waiting / rate)} of dialling at least${perDay ? `, ${perDay} a day at most` : ""}`,
    `  ${hoursOf(options)}${until ? `, until ${until.toISOString()}` : ""}`,
    record === false
      ? "  not recorded"
      : "  RECORDED: people must be told, in many places before the call goes on (--no-record)",
  ];
};
