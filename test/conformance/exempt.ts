import { cases as campaigns } from "./campaigns.ts";
import type { Case, Runtime } from "./case.ts";
import { cases as programs } from "./programs.ts";

const without = (cases: readonly Case[], reason: string): Readonly<Record<string, string>> =>
  Object.fromEntries(cases.map(({ name }) => [name, reason]));

const withoutSqlite = without(campaigns, "there is no SQLite");

/** The unit tests have them on Node, on each line. */
const withoutPrograms = without(programs, "they are in npm run conformance -- --programs");

/** The cases that a runtime doesn't run within the whole list, each with the reason; the report prints them. */
export const exempt: Partial<Record<Runtime, Readonly<Record<string, string>>>> = {
  node22: withoutPrograms,
  node24: withoutPrograms,
  node26: withoutPrograms,
  edge: { ...withoutSqlite, ...withoutPrograms },
  "happy-dom": { ...withoutSqlite, ...withoutPrograms },
  chromium: { ...withoutSqlite, ...withoutPrograms },
};
