import { cases as campaigns } from "./campaigns.ts";
import type { Runtime } from "./case.ts";

const withoutSqlite: Readonly<Record<string, string>> = Object.fromEntries(
  campaigns.map(({ name }) => [name, "there is no SQLite"]),
);

/** The cases that a runtime can't run, each with the reason; the report prints them. */
export const exempt: Partial<Record<Runtime, Readonly<Record<string, string>>>> = {
  edge: withoutSqlite,
  "happy-dom": withoutSqlite,
  chromium: withoutSqlite,
};
