import type { Draft, Survey } from "../../campaigns/contacts/draft.ts";
import type { Progress } from "../../campaigns/index.ts";
import { spanOf } from "./duration.ts";
import type { DialOptions } from "./settings.ts";

/** How many refused lines are told by number. */
const most = 20;

const many = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** Why lines were refused: the reasons, and which lines. */
const refusals = (refused: Draft["refused"]): readonly string[] => {
  const lines = new Map<string, number[]>();
  for (const { line, reason } of refused) {
    const all = lines.get(reason);
    if (all) all.push(line);
    else lines.set(reason, [line]);
  }
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

/** How a journal stands once a list is in it. */
export const expected = (
  { waiting, contacts, skipped, canceled, ...rest }: Progress,
  { fresh, blocked, barred, back, gone }: Survey,
): Progress => ({
  ...rest,
  waiting: waiting + fresh + back - barred - gone,
  contacts: contacts + fresh + blocked,
  skipped: skipped + blocked + barred,
  canceled: canceled + gone - back,
  done: waiting + fresh + back - barred - gone + rest.calling === 0,
});

/** What is about to happen, in a few lines. */
export const planOf = (
  { refused, twice }: Pick<Draft, "refused" | "twice">,
  survey: Survey,
  progress: Progress,
  options: DialOptions,
): readonly string[] => {
  const { rate = 1, record, until, perDay } = options;
  const { listed, fresh, blocked, back, changed, gone } = survey;
  const { waiting, contacts, skipped } = expected(progress, survey);
  const notes: readonly (readonly [number, string])[] = [
    [listed - fresh - blocked, "are in the journal already"],
    [twice, "more with a telephone that is in the list before"],
    [changed, "were never called, and change as the list has"],
    [back, "were left out before, and are in the list again"],
    [gone, "no longer in the list: not called"],
    [skipped, "on the do-not-call list"],
    [refused.length, "refused"],
  ];
  const told = notes
    .filter(([count]) => count > 0)
    .map(([count, note]) => `; ${count.toLocaleString("en")} ${note}`);
  return [
    `${many(waiting, "contact")} to call, of ${many(contacts, "contact")}${told.join("")}`,
    ...refusals(refused),
    `  ${rate} a second: ${spanOf(waiting / rate)} of dialling at least${perDay ? `, ${perDay} a day at most` : ""}`,
    `  ${hoursOf(options)}${until ? `, until ${until.toISOString()}` : ""}`,
    record === false
      ? "  not recorded"
      : "  RECORDED: people must be told, in many places before the call goes on (--no-record)",
  ];
};
