import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openLedger } from "../../../src/campaigns/index.ts";
import { ServiceException } from "../../../src/errors.ts";
import { people, stageOf } from "./stage.ts";

const folder = mkdtempSync(join(tmpdir(), "durable-"));
let file: string;
let files = 0;
beforeEach(() => {
  file = join(folder, `${files++}.outdial`);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A database that runs a function before each statement with a text. */
class Watched extends DatabaseSync {
  before: (statement: string) => void = () => {};

  override exec(statements: string): void {
    this.before(statements);
    super.exec(statements);
  }

  override prepare(text: string) {
    const statement = super.prepare(text);
    const all = statement.all.bind(statement);
    Object.assign(statement, {
      all: (...values: Parameters<typeof all>) => {
        this.before(text);
        return all(...values);
      },
    });
    return statement;
  }
}

const opened = async (options: Parameters<typeof stageOf>[0] = {}) => {
  const database = new Watched(file);
  const stage = await stageOf(options, database);
  const commits = { count: 0 };
  database.before = (statement) => {
    if (statement === "commit") commits.count++;
  };
  return { stage, database, commits };
};

/** Waits until the next commit need not wait for others to share it. */
const apart = () => new Promise((resolve) => setTimeout(resolve, 20));

const busy = () => {
  throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 1 });
};

describe("commits on a file", () => {
  it("all claims of a step are one commit, and it is done before the first POST", async () => {
    const { stage, commits } = await opened();
    await stage.campaign.add(people(3));
    stage.now += 100;
    const other = openLedger(new DatabaseSync(file));
    const seen: unknown[] = [];
    stage.answer = () => {
      seen.push([commits.count, other.progress().calling]);
      return new Promise(() => {});
    };
    await apart();
    commits.count = 0;
    await stage.campaign.step();
    expect(seen).toEqual([
      [1, 3],
      [1, 3],
      [1, 3],
    ]);
  });

  it("notifications that come together share a commit", async () => {
    const { stage, commits } = await opened({ concurrency: 50 });
    await stage.campaign.add(people(50));
    await stage.play();
    const received = await Promise.all(
      stage.posts.map((_, post) => stage.received(post, "call.completed")),
    );
    await apart();
    commits.count = 0;
    await Promise.all(received.map((each) => stage.campaign.note(each)));
    expect(stage.campaign.progress()).toMatchObject({ completed: 50 });
    expect(commits.count).toBe(2); // the first alone, at once
  });

  it("a claim with slots to spare waits for no other work to share its commit, and takes along what waits", async () => {
    const { stage, commits } = await opened();
    await stage.campaign.add(people(2));
    await stage.play();
    await stage.campaign.add(people(3).slice(2));
    const received = await Promise.all(
      [0, 1].map((post) => stage.received(post, "call.completed")),
    );
    await apart();
    let before: number | undefined;
    stage.answer = () => {
      before ??= commits.count;
      return new Promise(() => {});
    };
    commits.count = 0;
    vi.spyOn(performance, "now").mockReturnValue(performance.now());
    vi.stubGlobal("setTimeout", () => 0); // no time goes by
    const noted = Promise.all(received.map((each) => stage.campaign.note(each)));
    stage.now += 1_000;
    void stage.campaign.step();
    await expect.poll(() => before).toBe(2); // the first notification alone, at once
    await noted;
  });

  it("a claim that takes the last free slot waits for others, since more slots become free", async () => {
    const { stage, commits } = await opened({ concurrency: 2 });
    await stage.campaign.add(people(3));
    await stage.play();
    const ended = await stage.received(0, "call.completed");
    await apart();
    commits.count = 0;
    const timers: (() => void)[] = [];
    vi.spyOn(performance, "now").mockReturnValue(performance.now());
    vi.stubGlobal("setTimeout", (run: () => void) => timers.push(run));
    await stage.campaign.note(ended);
    const step = stage.campaign.step();
    await expect.poll(() => timers.length).toBe(1);
    expect([commits.count, stage.posts.length]).toEqual([1, 2]);
    for (const run of timers) run();
    await step;
    expect(stage.posts.length).toBe(3);
  });

  it("a notification is in the file, for every process, when its promise resolves", async () => {
    const { stage } = await opened();
    await stage.campaign.add(people(2));
    await stage.play();
    const other = openLedger(new DatabaseSync(file));
    await stage.tell(0, "call.completed");
    expect(other.progress()).toMatchObject({ completed: 1 });
    await stage.tell(1, "call.completed"); // shares a commit that is 10 ms later
    expect(other.progress()).toMatchObject({ completed: 2 });
  });

  it("work that fails in a shared commit fails alone", async () => {
    const { stage, database } = await opened();
    await stage.campaign.add(people(3));
    await stage.play();
    const received = await Promise.all(
      [0, 1, 2].map((post) => stage.received(post, "call.completed")),
    );
    let settled = 0;
    await stage.tell(0, "call.ringing");
    database.before = (statement) => {
      if (/set state = 'settled'/.test(statement) && ++settled === 2) throw new Error("odd");
    };
    const results = await Promise.allSettled(received.map((each) => stage.campaign.note(each)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(stage.campaign.progress()).toMatchObject({ completed: 2, calling: 1 });
  });

  it("an import commits 4,000 rows at a time", async () => {
    const { stage, commits } = await opened();
    await stage.campaign.add(people(5_000));
    await stage.campaign.add(people(10_000).slice(5_000));
    expect(commits.count).toBe(6); // each list has one for its number, and two pages
  });

  it("what waits for a commit is committed by close", async () => {
    const { stage, database } = await opened();
    await stage.campaign.add(people(2));
    await stage.play();
    const notes = [0, 1].map((post) => stage.tell(post, "call.completed"));
    await Promise.all(notes);
    await stage.campaign.close();
    database.close();
    expect(openLedger(new DatabaseSync(file)).progress()).toMatchObject({ completed: 2 });
  });
});

describe("a file that another program reads", () => {
  const held = async () => {
    const { stage, database } = await opened();
    await stage.campaign.add(people(2));
    await stage.campaign.step();
    await stage.campaign.idle();
    const reader = new DatabaseSync(file);
    reader.exec("begin");
    reader.prepare("select * from outdial_contact").all();
    return { stage, database, reader };
  };

  it("blocks for 100 ms at most: two waits of 50 ms", async () => {
    const { database } = await opened();
    expect(database.prepare("pragma busy_timeout").get()).toEqual({ timeout: 50 });
  });

  it("holds up a notification, which is rejected, and recorded when it comes again", async () => {
    const { stage, reader } = await held();
    expect(stage.campaign.busy).toBe(false);
    await expect(stage.tell(0, "call.completed")).rejects.toMatchObject({ reason: "busy" });
    expect(stage.campaign.busy).toBe(true);
    reader.close();
    expect(await stage.tell(0, "call.completed")).toBe(true);
    expect(stage.campaign.busy).toBe(false);
    expect(stage.campaign.progress()).toMatchObject({ completed: 1 });
  });

  it("holds up a claim, which is made when the file is free", async () => {
    const { stage, reader } = await held();
    await stage.campaign.add([]).catch(() => {});
    stage.now += 1_000;
    const before = stage.posts.length;
    expect(before).toBe(1);
    expect(await stage.campaign.step()).toBe(stage.now + 250);
    expect(stage.posts).toHaveLength(before);
    reader.close();
    await stage.campaign.step();
    expect(stage.posts).toHaveLength(2);
  });

  it("holds up an answer, which is recorded when the file is free", async () => {
    const { stage } = await opened();
    await stage.campaign.add(people(1));
    const reader = new DatabaseSync(file);
    stage.answer = () => {
      reader.exec("begin");
      reader.prepare("select * from outdial_contact").all();
      setTimeout(() => reader.close(), 500);
      return { id: "cs_0" };
    };
    await stage.campaign.step();
    await stage.campaign.idle();
    expect(Array.from(stage.campaign.audit(), ({ event }) => event)).toContain("placed");
  });
});

describe("a file that another program writes", () => {
  const locked = async () => {
    const { stage, database } = await opened();
    await stage.campaign.add(people(2));
    const writer = new DatabaseSync(file);
    writer.exec("begin exclusive");
    return { stage, database, writer };
  };

  it("leaves progress and the next call as they were known last", async () => {
    const { stage, writer } = await locked();
    const { progress } = stage.campaign;
    writer.exec("commit");
    const known = [progress(), stage.campaign.nextCall, stage.campaign.lastCall()];
    expect(known[0]).toMatchObject({ waiting: 2 });
    writer.exec("begin exclusive");
    expect([progress(), stage.campaign.nextCall, stage.campaign.lastCall()]).toEqual(known);
    writer.close();
  });

  it("leaves the calls that have begun in the progress, though nobody had asked for it since", async () => {
    const { stage } = await opened();
    await stage.campaign.add(people(2));
    const { promise, resolve } = Promise.withResolvers<DatabaseSync>();
    stage.answer = async () => {
      // Once the step is over.
      await new Promise(setImmediate);
      const writer = new DatabaseSync(file);
      writer.exec("begin exclusive");
      resolve(writer);
      return { id: "cs_0" };
    };
    const enough = new AbortController();
    const over = stage.campaign.run({ signal: enough.signal });
    const writer = await promise;
    expect(stage.campaign.progress()).toMatchObject({ calling: 1, waiting: 1 });
    enough.abort();
    writer.close();
    expect(await over).toMatchObject({ calling: 1, waiting: 1 });
  });

  it("holds up pause, resume and cancel, which are written in order when the file is free", async () => {
    const { stage, writer } = await locked();
    const { campaign } = stage;
    const written = [campaign.pause("first"), campaign.resume(), campaign.pause("second")];
    writer.close();
    await Promise.all(written);
    expect(campaign.progress()).toMatchObject({ state: "paused", reason: "second" });
    const events = Array.from(campaign.audit(), ({ event }) => event);
    expect(events.slice(-3)).toEqual(["paused", "resumed", "paused"]);
  });

  it("lets no call begin after a pause that is not written yet", async () => {
    const { stage, writer } = await locked();
    const paused = stage.campaign.pause();
    writer.close();
    await stage.campaign.step();
    await stage.campaign.idle();
    await paused;
    await stage.campaign.step();
    await stage.campaign.idle();
    expect(stage.posts).toEqual([]);
  });

  it("holds up a plan, which is made and applied when the file is free", async () => {
    const { stage, writer } = await locked();
    const synced = stage.campaign.sync(people(3));
    setTimeout(() => writer.close(), 300);
    expect(await synced).toMatchObject({ added: 1, applied: true });
  });

  it("holds up close", async () => {
    const { stage, database, writer } = await locked();
    const closed = stage.campaign.close();
    setTimeout(() => writer.close(), 300);
    await closed;
    expect(database.prepare("select value from outdial_fact where name = 'open'").get()).toEqual({
      value: 0,
    });
  });
});

describe("a failing database", () => {
  it("a lock isn't kept when a statement after opening fails, whichever", async () => {
    for (let statement = 1; ; statement++) {
      const database = new Watched(file);
      let count = 0;
      let failed = false;
      database.before = () => {
        if (++count !== statement) return;
        failed = true;
        throw new Error("an odd failure");
      };
      const stage = await stageOf({}, database).catch(() => undefined);
      database.before = () => {};
      expect(stage === undefined).toBe(failed);
      await stage?.campaign.close();
      database.close();
      const again = new DatabaseSync(file);
      await (await stageOf({}, again)).campaign.close();
      again.close();
      rmSync(file);
      if (!failed) break;
    }
  });

  it("a rollback that fails is repeated before the next transaction", async () => {
    const { stage, database } = await opened();
    await stage.campaign.add(people(2));
    let failures = 2;
    database.before = (statement) => {
      if (failures > 0 && /^(commit|rollback)$/.test(statement)) {
        failures--;
        throw new Error("disk I/O error");
      }
    };
    await expect(stage.campaign.block("+12025550000")).rejects.toThrow("disk I/O error");
    expect(await stage.campaign.block("+12025550000")).toBe(1);
  });

  it("a rollback that never works is shown in words", async () => {
    const { stage, database } = await opened();
    database.before = (statement) => {
      if (/^(commit|rollback)$/.test(statement)) throw new Error("disk I/O error");
    };
    await expect(stage.campaign.block("+12025550000")).rejects.toThrow("disk I/O error");
    await expect(stage.campaign.block("+12025550000")).rejects.toThrow(
      "can't be rolled back: close the database and open it again",
    );
  });
});

describe("a power cut", () => {
  it("that leaves the file alone as the last commit left it calls nobody twice, whenever it comes", async () => {
    const { stage, database } = await opened({
      attempts: 2,
      retryDelay: 1_000,
      concurrency: 3,
      settleTimeout: 60_000,
    });
    const options = { attempts: 2, retryDelay: 1_000, concurrency: 3, settleTimeout: 60_000 };
    await stage.campaign.add(people(6));
    const isRefused = (post: number): boolean => post % 4 === 1;
    stage.answer = () => {
      const post = stage.posts.length - 1;
      return isRefused(post) ? busy() : { id: `cs_${post}` };
    };
    /** What each cut leaves, just before a commit, and how many POSTs there were by then. */
    const cuts: { file: string; posts: number }[] = [];
    database.before = (statement) => {
      if (statement !== "commit") return;
      const cut = `${file}-cut${cuts.length}`;
      copyFileSync(file, cut);
      cuts.push({ file: cut, posts: stage.posts.length });
    };
    for (let reported = 0, rounds = 0; !stage.campaign.progress().done && rounds < 200; rounds++) {
      await stage.play(100);
      for (; reported < stage.posts.length; reported++) {
        if (isRefused(reported)) continue;
        await stage.tell(reported, "call.ringing");
        await stage.tell(reported, "call.failed", reported % 3 ? "busy" : "rejected");
      }
    }
    database.before = () => {};
    /** The contacts and attempts of some POSTs. */
    const keysOf = (on: typeof stage, posts: readonly number[]): Promise<readonly string[]> =>
      Promise.all(
        posts.map(async (post) => {
          const { context } = await on.received(post, "call.ringing");
          return `${context.contact}/${context.attempt}`;
        }),
      );
    expect(stage.campaign.progress().done).toBe(true);
    expect(cuts.length).toBeGreaterThan(10);
    for (const cut of cuts) {
      const again = await stageOf(options, new DatabaseSync(cut.file));
      again.now = stage.now;
      await again.play(120_000);
      const called = [...Array(cut.posts).keys()].filter((post) => !isRefused(post));
      const keys = await keysOf(again, [...again.posts.keys()]);
      const before = await keysOf(stage, called);
      expect(keys.filter((key) => before.includes(key))).toEqual([]);
      await again.campaign.close();
    }
  });
});
