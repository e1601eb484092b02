import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { LedgerException, openLedger } from "../../../src/campaigns/index.ts";
import { sqlOf } from "../../../src/campaigns/sqlite.ts";
import { numberOf, people, stageOf } from "./stage.ts";

let folder: string;
let file: string;
let other: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "file-"));
  file = join(folder, "people.outdial");
  other = join(folder, "other.outdial");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Opens a ledger for dialling, and gives its stage or why it is refused. */
const opened = async (path: string) => {
  try {
    return await stageOf({ attempts: 2, concurrency: 5 }, new DatabaseSync(path));
  } catch (error) {
    if (!(error instanceof LedgerException)) throw error;
    return error.reason;
  }
};

describe("the file alone", () => {
  it("has every claim while it is dialled from: a copy calls nobody again", async () => {
    const stage = await stageOf({}, new DatabaseSync(file));
    await stage.campaign.add(people(3));
    await stage.play();
    copyFileSync(file, other);
    const again = await opened(other);
    if (typeof again === "string") throw new Error(again);
    await again.play();
    expect(again.posts).toEqual([]);
    expect(again.campaign.progress()).toMatchObject({ calling: 3 });
  });

  it("has what was blocked after a run", async () => {
    const database = new DatabaseSync(file);
    const stage = await stageOf({}, database);
    await stage.campaign.add(people(2));
    await stage.campaign.close();
    database.close();
    await openLedger(new DatabaseSync(file)).block(numberOf(0)); // and is never closed
    copyFileSync(file, other);
    const again = await opened(other);
    if (typeof again === "string") throw new Error(again);
    await again.play();
    expect(again.posts.map(({ to_number }) => to_number)).toEqual([numberOf(1)]);
  });

  it("is what close leaves: no journal, no log", async () => {
    const database = new DatabaseSync(file);
    const stage = await stageOf({}, database);
    await stage.campaign.add(people(3));
    await stage.play();
    expect(existsSync(`${file}-wal`)).toBe(false);
    await stage.campaign.close();
    expect(existsSync(`${file}-journal`)).toBe(false);
  });

  it("says that the disk is full to every answer of a commit that was lost, and keeps none of them", async () => {
    const database = new DatabaseSync(file);
    const { campaign, play, hear } = await stageOf({}, database);
    await campaign.add(people(20));
    await play();
    const { page_count } = database.prepare("pragma page_count").get() ?? {};
    database.exec(`pragma max_page_count = ${page_count}`);
    const answers = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`answer${index}`, "5".repeat(60)]),
    );
    const noted = await Promise.allSettled(people(20).map((_, post) => hear(post, { answers })));
    const lost = noted.flatMap((one) => (one.status === "rejected" ? [one.reason.message] : []));
    expect(new Set(lost)).toEqual(new Set(["database or disk is full"]));
    const kept = [...campaign.results()].filter(({ answers: { answer0 } }) => answer0);
    expect(kept).toHaveLength(20 - lost.length);
    database.close();
  });

  it("that can't grow ends the run, also where only the ends of the live calls don't fit, which take every slot", async () => {
    const fill = (database: DatabaseSync): void => {
      const { page_count } = database.prepare("pragma page_count").get() ?? {};
      database.exec(`pragma max_page_count = ${page_count}`);
      const insert = database.prepare("insert into outdial_answer values (99, 1, ?, ?, 0)");
      const full = /database or disk is full/;
      expect(() => {
        for (let name = 0; ; name++) insert.all(`full${name}`, "5".repeat(name < 9 ? 900 : 9));
      }).toThrow(full);
      expect(() => {
        for (;;) database.exec("insert into outdial_audit (at, event) values (0, 'full')");
      }).toThrow(full);
    };
    const ends = { state: "completed" } as const;
    for (const get of [undefined, async () => ends]) {
      const database = new DatabaseSync(join(folder, get ? "get.outdial" : "note.outdial"));
      const stage = await stageOf({ concurrency: 1, ...(get && { get }) }, database);
      await stage.campaign.add(people(2));
      await stage.play();
      fill(database);
      const run = stage.campaign.run();
      if (get) stage.now += 100_000;
      else await expect(stage.tell(0, "call.completed")).rejects.toThrow("disk is full");
      await expect(run).rejects.toThrow("disk is full");
      await expect(stage.campaign.drain()).rejects.toThrow("disk is full");
      database.close();
    }
  });

  it("has what is written after another program has switched it to a write-ahead log", async () => {
    const stage = await stageOf({}, new DatabaseSync(file));
    await stage.campaign.add(people(2));
    const browser = new DatabaseSync(file);
    expect(browser.prepare("pragma journal_mode = wal").get()).toEqual({ journal_mode: "wal" });
    await stage.campaign.step();
    await stage.campaign.idle();
    await stage.play();
    expect(stage.posts).toHaveLength(2);
    browser.close();
    copyFileSync(file, other);
    const again = await opened(other);
    if (typeof again === "string") throw new Error(again);
    await again.play();
    expect(again.posts).toEqual([]);
  });
});

it("a file that another program holds is waited for once, and not by each statement of a turn", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const database = new DatabaseSync(file);
  let wait = 0;
  let waited = 0;
  const held = {
    exec: (statements: string) => {
      const [, timeout] = /busy_timeout = (\d+)/.exec(statements) ?? [];
      if (timeout !== undefined) wait = Number(timeout);
    },
    close: () => database.close(),
    prepare: () => ({
      all: () => {
        waited += wait;
        throw new Error("database is locked");
      },
    }),
  };
  const sql = sqlOf(held, 50);
  for (let read = 0; read < 20; read++) expect(() => sql.all("select 1")).toThrow(LedgerException);
  for (let write = 0; write < 20; write++) {
    expect(() => sql.transaction(() => {})).toThrow(LedgerException);
  }
  expect(waited).toBe(50);
});

describe("a second name of the file", () => {
  it("opens no second dialer while the file is in use, by whichever name", async () => {
    const stage = await stageOf({}, new DatabaseSync(file));
    await stage.campaign.add(people(2));
    linkSync(file, other);
    expect(await opened(other)).toBe("in_use");
    expect(await opened(other)).toBe("in_use");
    await stage.campaign.close();
    const second = await opened(other);
    if (typeof second === "string") throw new Error(second);
    expect(await opened(file)).toBe("in_use");
    await second.play();
    expect(second.posts).toHaveLength(2);
  });

  it("opens where the file was moved, or its first process is gone", async () => {
    const database = new DatabaseSync(file);
    await stageOf({}, database);
    database.close(); // as a crash leaves it: marked as open
    renameSync(file, other);
    rmSync(`${file}-lock`);
    expect(typeof (await opened(other))).not.toBe("string");
    expect(existsSync(file)).toBe(false);
    expect(existsSync(`${file}-lock`)).toBe(false);
  });
});

const script = `
  const { stageOf, people } = await import(process.argv[1]);
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(process.argv[2]);
  const stage = await stageOf({}, database);
  await stage.campaign.add(people(2_000));
  database.exec("pragma cache_size = 1; begin");
  database.exec("update outdial_contact set to_number = to_number || '0'");
  process.kill(process.pid, "SIGKILL");
`;

describe("a process that is killed in the middle of a transaction", () => {
  /** Leaves a file whose pages are partly written, and the journal that undoes that. */
  const killed = async (): Promise<void> => {
    const stage = new URL("./stage.ts", import.meta.url).href;
    const args = ["--no-warnings", "--input-type=module", "-e", script, stage, file];
    await promisify(execFile)(process.execPath, args).catch(() => {});
    expect(readFileSync(`${file}-journal`).length).toBeGreaterThan(512);
  };

  it("is rolled back by whoever opens it, also to look at it first", async () => {
    await killed();
    expect(openLedger(new DatabaseSync(file)).progress()).toMatchObject({ waiting: 2_000 });
    const stage = await opened(file);
    if (typeof stage === "string") throw new Error(stage);
    await stage.campaign.step();
    expect(stage.posts[0]?.to_number).toBe(numberOf(0));
  });

  it("takes its journal along under another name", async () => {
    await killed();
    for (const end of ["", "-journal"]) copyFileSync(file + end, other + end);
    const stage = await opened(other);
    if (typeof stage === "string") throw new Error(stage);
    expect(stage.campaign.progress()).toMatchObject({ waiting: 2_000 });
  });

  it("is refused as damaged without its journal", async () => {
    await killed();
    copyFileSync(file, other);
    expect(await opened(other)).toBe("damaged");
  });
});

describe("a copy that was made while the file was written", () => {
  it("is refused, or calls nobody again, whichever page of a commit it lacks", async () => {
    const size = 4_096;
    const stage = await stageOf(
      { attempts: 2, retryDelay: 0, concurrency: 2 },
      new DatabaseSync(file),
    );
    await stage.campaign.add(people(60));
    const fileNow = () => readFileSync(file);
    let refused = 0;
    for (const step of ["claim", "end", "claim"]) {
      const before = fileNow();
      if (step === "claim") await stage.play(100);
      else await stage.tell(0, "call.failed", "busy");
      const after = fileNow();
      const called = new Set(
        await Promise.all(stage.posts.map(async (_, post) => keyOf(stage, post))),
      );
      for (let at = 0; at < after.length; at += size) {
        const old = before.subarray(at, at + size);
        if (old.equals(after.subarray(at, at + size))) continue;
        const mixed = Buffer.from(after);
        old.copy(mixed, at);
        writeFileSync(other, mixed);
        const again = await opened(other);
        if (typeof again === "string") {
          expect(again).toBe("damaged");
          refused++;
          continue;
        }
        again.now = stage.now;
        await again.play(1_000);
        const twice = await Promise.all(again.posts.map(async (_, post) => keyOf(again, post)));
        expect(twice.filter((key) => called.has(key))).toEqual([]);
        await again.campaign.close();
      }
    }
    expect(refused).toBeGreaterThan(3);
  });

  const keyOf = async (stage: Awaited<ReturnType<typeof stageOf>>, post: number) => {
    const { context } = await stage.received(post, "call.ringing");
    return `${context.contact}/${context.attempt}`;
  };
});
