import type { Param, Sql, Value } from "../../sql/sql.ts";

/** The facts about a campaign itself, by name. */
export const factOf = (sql: Sql, name: string): Value =>
  sql.all("select value from outdial_fact where name = ?", name)[0]?.value ?? null;

export const setFact = (sql: Sql, name: string, value: Param): void => {
  sql.all(
    "insert into outdial_fact values (?, ?) on conflict (name) do update set value = excluded.value",
    name,
    value,
  );
};
