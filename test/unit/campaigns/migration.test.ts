import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parse } from "valibot";
import { afterEach, describe, expect, it } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import { dispositions, openLedger } from "../../../src/campaigns/index.ts";
import { sqlOf } from "../../../src/campaigns/sqlite.ts";
import { prepareTables } from "../../../src/campaigns/tables.ts";
import { noon, numberOf, people, stageOf } from "./stage.ts";

const folders: string[] = [];
afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true });
});

const older = readFileSync(new URL("ledger-1.sql", import.meta.url), "utf8");

/** A ledger in a file. */
const fileOf = (sql: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "migration-"));
  folders.push(folder);
  const file = join(folder, "people.outdial");
  const database = new DatabaseSync(file);
  database.exec(`begin; ${sql} commit;`);
  database.close();
  return file;
};

/** A ledger of version 1, in a file. */
const olderFile = (): string => fileOf(older);

const options = { attempts: 2, retryDelay: 60_000, settleTimeout: 600_000 };

const schemaOf = (database: DatabaseSync) =>
  database.prepare("select name, sql from sqlite_master where sql <> '' order by name").all();

const versionOf = (database: DatabaseSync) =>
  database.prepare("select value from outdial_fact where name = 'version'").get()?.value;

describe("a ledger of version 1", () => {
  it("gets the tables of a new one", async () => {
    const database = new DatabaseSync(olderFile());
    await stageOf(options, database);
    const fresh = new DatabaseSync(":memory:");
    await stageOf({}, fresh);
    expect(schemaOf(database)).toEqual(schemaOf(fresh));
    expect(versionOf(database)).toBe(versionOf(fresh));
  });

  it("goes on where it was: who may have been called is unclear, and a retry comes", async () => {
    const { campaign, posts, play } = await stageOf(options, new DatabaseSync(olderFile()));
    expect(campaign.progress()).toMatchObject({
      contacts: 8,
      waiting: 1,
      calling: 2,
      unclear: 2,
      completed: 1,
      unreachable: 1,
      blocked: 1,
    });
    await play(120_000);
    expect(posts.map(({ to_number }) => to_number)).toEqual([numberOf(1)]);
    await play(600_000);
    expect(campaign.progress()).toMatchObject({ unclear: 0, unknown: 5, completed: 1 });
  });

  it("goes on calling by its number, which is no longer one of its marks", async () => {
    const { campaign, reopen } = await stageOf(options, new DatabaseSync(olderFile()));
    await campaign.close();
    const { posts, play } = await reopen({ from_number: ["+12025550197", "+12025550198"] });
    await play(120_000);
    expect(posts.map(({ from_number }) => from_number)).toEqual(["+12025550199"]);
    const other = { ...options, from_number: "+12025550198" };
    await expect(stageOf(other, new DatabaseSync(olderFile()))).rejects.toMatchObject({
      reason: "other_campaign",
    });
  });

  it("killed at any statement of the migration it opens again, and goes on", async () => {
    const file = olderFile();
    const copies: string[] = [];
    const database = new DatabaseSync(file);
    const killedAt = {
      exec: (statements: string) => database.exec(statements),
      close: () => database.close(),
      prepare: (statement: string) => {
        const prepared = database.prepare(statement);
        return {
          all: (...values: (string | number | null)[]) => {
            const rows = prepared.all(...values);
            if (!/^(create|alter|update|commit)/.test(statement)) return rows;
            const copy = join(mkdtempSync(join(tmpdir(), "killed-")), "people.outdial");
            folders.push(join(copy, ".."));
            copyFileSync(file, copy);
            if (existsSync(`${file}-journal`)) copyFileSync(`${file}-journal`, `${copy}-journal`);
            copies.push(copy);
            return rows;
          },
        };
      },
    };
    // A small cache writes pages of the transaction into the file before its end.
    database.exec("pragma cache_size = 1");
    prepareTables(sqlOf(killedAt));
    database.close();
    expect(copies.length).toBeGreaterThan(20);
    for (const copy of copies) {
      const { campaign, posts, play } = await stageOf(options, new DatabaseSync(copy));
      expect(campaign.progress()).toMatchObject({ contacts: 8, waiting: 1, unclear: 2 });
      await play(120_000);
      expect(posts).toHaveLength(1);
      await campaign.close();
    }
  });

  it("knows both spellings of a mobile", async () => {
    const [mexican, argentine] = ["+5215512345678", "+5491123456789"];
    const database = new DatabaseSync(olderFile());
    database.exec(`update outdial_contact set to_number = '${mexican}' where to_number = '${numberOf(1)}';
      insert into outdial_blocked values ('${argentine}')`);
    const { campaign, posts, play } = await stageOf(options, database);
    const list = [{ to_number: "+525512345678" }, { to_number: "+541123456789" }];
    expect(await campaign.add(list)).toMatchObject({ added: 1, duplicate: 1 });
    await play(120_000);
    expect(posts.map(({ to_number }) => to_number)).toEqual([mexican]);
    expect(campaign.progress()).toMatchObject({ blocked: 2 });
  });

  it("is read before anybody dials from it, and blocks a number", async () => {
    const database = new DatabaseSync(olderFile());
    const ledger = openLedger(database);
    expect(ledger.progress()).toMatchObject({ calling: 2, unclear: 2 });
    expect(await ledger.block(numberOf(1))).toBe(1);
    const { campaign } = await stageOf(options, database);
    expect(campaign.progress()).toMatchObject({ waiting: 0, blocked: 2 });
  });

  it("is not changed while another process dials from it", () => {
    const file = olderFile();
    const lock = new DatabaseSync(`${file}-lock`);
    lock.exec("begin exclusive");
    const database = new DatabaseSync(file);
    expect(() => openLedger(database)).toThrow(expect.objectContaining({ reason: "in_use" }));
    expect(versionOf(database)).toBe(1);
    lock.close();
    expect(openLedger(database).progress()).toMatchObject({ unclear: 2 });
  });

  it("stays as it was when a step fails", async () => {
    const database = new DatabaseSync(olderFile());
    const before = schemaOf(database);
    database.exec(
      `create trigger stop before insert on outdial_fact when new.name = 'version'
       begin select raise(abort, 'stopped'); end`,
    );
    await expect(stageOf(options, database)).rejects.toThrow("stopped");
    database.exec("drop trigger stop");
    expect(schemaOf(database)).toEqual(before);
    const states = database.prepare("select state from outdial_contact order by contact").all();
    expect(states.map(({ state }) => state).slice(2, 5)).toEqual(["calling", "calling", "calling"]);
    expect(versionOf(database)).toBe(1);
  });
});

describe("a state that no version writes", () => {
  it.each(["strange", "constructor"])("%s is an error, and no disposition", async (state) => {
    const database = new DatabaseSync(":memory:");
    const { campaign } = await stageOf(options, database);
    await campaign.add(people(1));
    database.exec(`update outdial_contact set state = '${state}'`);
    const unknown = expect.objectContaining({ reason: "unknown_state" });
    expect(() => campaign.progress()).toThrow(unknown);
    expect(() => [...campaign.results()]).toThrow(unknown);
    expect(() => openLedger(database).progress()).toThrow(unknown);
  });

  it("an outcome as well: the contact does not end as unreachable", async () => {
    const database = new DatabaseSync(":memory:");
    const { campaign, play, tell } = await stageOf(options, database);
    await campaign.add(people(1));
    await play();
    await tell(0, "call.failed", "busy");
    database.exec("update outdial_contact set outcome = 'strange'");
    await campaign.cancel();
    await expect(campaign.step()).rejects.toMatchObject({ reason: "unknown_state" });
    expect(campaign.progress()).toMatchObject({ waiting: 1, unreachable: 0 });
  });
});

/** Ledgers of each version, made by its own code: each with a contact in each state of a run. */
const everyVersion = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].flatMap((version) =>
  (["closed", "killed"] as const).map((end) => [version, end] as const),
);

describe.each(everyVersion)("a ledger of version %d whose process was %s", (version, end) => {
  const sql = readFileSync(
    new URL(`ledgers/ledger-${version}-${end}.sql`, import.meta.url),
    "utf8",
  );

  it("opens with its results, and nobody who may have been called is called again", async () => {
    const database = new DatabaseSync(fileOf(sql));
    const { campaign, posts, play } = await stageOf(options, database);
    const dispositions = [...campaign.results()].map(({ disposition }) => disposition);
    const ended = { 0: "completed", 2: "unreachable", 6: "blocked" };
    expect(dispositions).toEqual(Object.assign(new Array(8).fill(undefined), ended));
    expect(versionOf(database)).toBeGreaterThanOrEqual(6);
    await play(120_000);
    expect(posts.map(({ to_number }) => to_number)).toEqual([numberOf(1)]);
  });

  it("has the results that it had, also once what it knew comes again", async () => {
    const database = new DatabaseSync(fileOf(sql));
    const before = database
      .prepare(
        `select contact, outdial_contact.state, reason, attempts, call_id, ended, duration from outdial_contact
         left join outdial_attempt using (contact) where attempt is null or attempt = attempts order by contact`,
      )
      .all()
      .map(({ state, reason, call_id, ended, duration, ...row }) => ({
        ...row,
        disposition: Object.hasOwn(dispositions, String(state)) ? state : undefined,
        ...{ reason: reason ?? undefined, call_id: call_id ?? undefined },
        ...{ endedAt: ended ?? undefined, duration: duration ?? undefined },
      }));
    const { campaign } = await stageOf(options, database);
    expect([...campaign.results()]).toMatchObject(before);
    const again = (contact: number, type: string, reason: string) =>
      campaign.note({
        context: { campaign: campaign.id, contact, attempt: 1 },
        event: parse(CallEvent, { type, call_id: `cs_${contact - 1}`, data: { reason } }),
      });
    await again(1, "call.completed", "normal");
    await again(2, "call.failed", "busy");
    await again(3, "call.failed", "unreachable");
    expect([...campaign.results()]).toMatchObject(before);
  });

  it("what it concluded is a fact, by which later news is judged", async () => {
    const { campaign, posts, play } = await stageOf(options, new DatabaseSync(fileOf(sql)));
    const news = (contact: number, type: string, data: object) =>
      campaign.note({
        context: { campaign: campaign.id, contact, attempt: 1 },
        event: parse(CallEvent, { type, call_id: `cs_${contact - 1}`, data }),
      });
    await news(1, "call.failed", { reason: "busy" });
    await news(2, "call.completed", { reason: "normal" });
    await news(3, "call.failed", { reason: "rejected" });
    const ends = [...campaign.results()].slice(0, 3).map(({ disposition }) => disposition);
    expect(ends).toEqual(["completed", "completed", "rejected"]);
    await play(120_000);
    expect(posts).toEqual([]);
  });

  it("is read, reported and blocked in without a process that dials", async () => {
    const ledger = openLedger(new DatabaseSync(fileOf(sql)));
    expect([...ledger.results()]).toHaveLength(8);
    // The kill came before the answer to one POST.
    expect(ledger.figures().attempts).toEqual([end === "killed" ? 6 : 7]);
    expect(await ledger.block(numberOf(1))).toBe(1);
    await ledger.stop();
    expect(ledger.progress()).toMatchObject({ contacts: 8, blocked: 2 });
  });
});

describe("a ledger of version 6", () => {
  const sql = readFileSync(new URL("ledgers/ledger-6-closed.sql", import.meta.url), "utf8");
  const opened = (changes: string) =>
    stageOf(options, new DatabaseSync(fileOf(`${sql}${changes}`)));
  const ending = (type: string, contact: number, attempt: number) => ({
    event: parse(CallEvent, { type, call_id: "cs_9", data: {} }),
    context: { contact, attempt },
  });

  it("knows the claims that were released, by its audit log", async () => {
    const released =
      "insert into outdial_audit values (99, 1780480860020, 2, 2, 'released', 'HTTP 429');";
    const { campaign } = await opened(released);
    const { event, context } = ending("call.completed", 2, 2);
    expect(await campaign.note({ event, context: { ...context, campaign: campaign.id } })).toBe(
      true,
    );
    expect(campaign.progress()).toMatchObject({ state: "running", completed: 2 });
    expect(openLedger((await opened(released)).database).figures()).toMatchObject({
      attempts: [7],
    });
  });

  it("knows that somebody was talked to after all while a later attempt is under way", async () => {
    const { campaign } = await opened(
      `update outdial_contact set attempts = 2, state = 'calling', outcome = 'completed' where contact = 2;
       insert into outdial_attempt (contact, attempt, state, claimed, settle_by) values (2, 2, 'placed', 1780480870020, 1780481470020);
       update outdial_tally set contacts = contacts - 1 where state = 'waiting';
       update outdial_tally set contacts = contacts + 1 where state = 'calling';`,
    );
    const { event, context } = ending("call.failed", 2, 2);
    await campaign.note({ event, context: { ...context, campaign: campaign.id } });
    expect([...campaign.results()][1]).toMatchObject({ disposition: "completed", attempts: 2 });
  });
});

it("a ledger of version 7 goes on asking for its calls, at the times and the pace that it had", async () => {
  const sql = readFileSync(new URL("ledgers/ledger-7-closed.sql", import.meta.url), "utf8");
  const database = new DatabaseSync(":memory:");
  database.exec(`${sql}
    update outdial_attempt set ask_at = ${noon + 40_000}, asks = 2, settle_by = 8640000000000000 where contact = 6;
    insert into outdial_fact values ('last_ask', ${noon})`);
  const asked: number[] = [];
  const get = async (id: string) => {
    if (id === "cs_5") asked.push(stage.now - noon);
    return { state: "answered" } as const;
  };
  const stage = await stageOf({ ...options, get }, database);
  await stage.play(300_000);
  // Twice as long as the two times before.
  expect(asked).toEqual([40_000, 160_000]);
});

it.each(["closed", "killed"])(
  "a ledger of version 10 whose process was %s keeps the ids of its recordings",
  async (end) => {
    const sql = readFileSync(new URL(`ledgers/ledger-10-${end}.sql`, import.meta.url), "utf8");
    const { campaign } = await stageOf(options, new DatabaseSync(fileOf(sql)));
    const at = noon + 30;
    const recordings = [...campaign.results()].flatMap((result) => result.recordings);
    expect(recordings).toEqual([
      { contact: 1, attempt: 1, recording_id: "rec_0", as: "complaint", at },
      { contact: 8, attempt: 1, recording_id: "rec_6", at },
    ]);
  },
);
