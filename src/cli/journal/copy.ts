import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { openJournal, temporary } from "./journal.ts";

/** The tables of a journal, each with how it was made. */
const tablesIn = (journal: DatabaseSync) =>
  journal
    .prepare("select name, sql from sqlite_master where type = 'table' and name like 'outdial_%'")
    .all()
    .map(({ name, sql }) => ({ name: String(name), sql: String(sql) }));

/**
 * A copy of a journal that is gone with the process, to see what would become of it; an empty one where there is none.
 *
 * @throws {Failure} when it can't be opened
 */
export const copyOfJournal = async (file: string): Promise<DatabaseSync> => {
  const copy = await openJournal(temporary, "a");
  if (!existsSync(file)) return copy;
  const journal = await openJournal(file, "r+");
  // One moment of it, also while it is dialled from.
  journal.exec("begin");
  copy.exec("begin");
  for (const { name, sql } of tablesIn(journal)) {
    copy.exec(sql);
    const columns = journal.prepare(`select * from pragma_table_info('${name}')`).all().length;
    const insert = copy.prepare(
      `insert into ${name} values (${Array.from({ length: columns }, () => "?").join(", ")})`,
    );
    for (const row of journal.prepare(`select * from ${name}`).iterate()) {
      insert.run(...Object.values(row));
    }
  }
  for (const { sql } of journal
    .prepare(
      "select sql from sqlite_master where type in ('index', 'trigger') and name like 'outdial_%'",
    )
    .all()) {
    copy.exec(String(sql));
  }
  copy.exec("commit");
  journal.close();
  return copy;
};
