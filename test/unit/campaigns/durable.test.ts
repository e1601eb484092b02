import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { ServiceException } from "../../../src/errors.ts";
import { people, stageOf } from "./stage.ts";

/** A database that tells of each commit whether it is synced. */
const watched = (file: string) => {
  const commits: ("synced" | "relaxed")[] = [];
  const watch = { commits, onSync: () => {} };
  let level: (typeof commits)[number] = "synced";
  class Watched extends DatabaseSync {
    override exec(statements: string): void {
      const [, word] = /^pragma synchronous = (\w+)$/.exec(statements) ?? [];
      if (word) level = word === "full" ? "synced" : "relaxed";
      super.exec(statements);
    }

    override prepare(text: string) {
      const statement = super.prepare(text);
      if (text !== "commit") return statement;
      const all = statement.all.bind(statement);
      statement.all = () => {
        const rows = all();
        commits.push(level);
        if (level === "synced") watch.onSync();
        return rows;
      };
      return statement;
    }
  }
  return { database: new Watched(file), watch };
};

const busy = () => {
  throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 1 });
};

describe("what a power cut may take back", () => {
  const opened = async () => {
    const { database, watch } = watched(":memory:");
    const stage = await stageOf({}, database);
    await stage.campaign.add(people(3));
    const during = async (work: () => unknown): Promise<readonly string[]> => {
      watch.commits.length = 0;
      await work();
      return [...watch.commits];
    };
    return { stage, during };
  };

  it("is no claim: all of a step's are one commit, which is synced", async () => {
    const { stage, during } = await opened();
    stage.answer = () => new Promise(() => {});
    expect(await during(() => stage.campaign.step())).toEqual(["synced"]);
    stage.now += 10;
    await stage.campaign.step();
    expect(stage.posts).toHaveLength(3);
  });

  it("is the answer to a POST while others are under way, but not the last one's", async () => {
    const { stage, during } = await opened();
    const answers: (() => void)[] = [];
    stage.answer = () => new Promise((resolve) => answers.push(() => resolve({ id: "cs_0" })));
    await stage.campaign.step();
    stage.now += 10;
    await stage.campaign.step();
    const [first, second, third] = answers;
    const after = (answer = () => {}) =>
      during(async () => {
        answer();
        await new Promise((resolve) => setTimeout(resolve));
      });
    expect(await after(first)).toEqual(["relaxed"]);
    expect(await after(second)).toEqual(["relaxed"]);
    expect(await after(third)).toEqual(["synced"]);
  });

  it("is what is told on the way, but no end of a call", async () => {
    const { stage, during } = await opened();
    stage.answer = () => new Promise(() => {});
    await stage.campaign.step();
    expect(await during(() => stage.tell(0, "call.ringing"))).toEqual(["relaxed"]);
    expect(await during(() => stage.tell(0, "call.answered"))).toEqual([]); // It says no more.
    expect(await during(() => stage.tell(0, "call.failed", "busy"))).toEqual(["synced"]);
  });

  it("is no claim that a notification brings back", async () => {
    const { stage, during } = await opened();
    stage.answer = busy;
    await stage.play(0);
    expect(await during(() => stage.tell(0, "call.ringing"))).toEqual(["synced"]);
  });

  it("is a page of a list, but not its end", async () => {
    const { stage, during } = await opened();
    const commits = await during(() => stage.campaign.add(people(1_000)));
    expect(commits.slice(0, -1).every((commit) => commit === "relaxed")).toBe(true);
    expect(commits.at(-1)).toBe("synced");
  });
});

describe("a power cut", () => {
  const home = mkdtempSync(join(tmpdir(), "durable-"));
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  it("that leaves nothing but what was synced last calls nobody twice, whenever it comes", async () => {
    const file = join(home, "people.outdial");
    const { database, watch } = watched(file);
    const options = { attempts: 2, retryAfter: 1, concurrency: 3, settle: 60 };
    const stage = await stageOf(options, database);
    await stage.campaign.add(people(12));
    const isRefused = (post: number): boolean => post % 4 === 1;
    stage.answer = () => {
      const post = stage.posts.length - 1;
      return isRefused(post) ? busy() : { id: `cs_${post}` };
    };
    /** What is left by each cut, just before the next sync, and how many POSTs there were by then. */
    const cuts: { file: string; posts: number }[] = [];
    let last: string | undefined;
    watch.onSync = () => {
      if (last) cuts.push({ file: last, posts: stage.posts.length });
      last = join(home, `cut${cuts.length}`);
      for (const part of ["", "-wal"]) copyFileSync(file + part, last + part);
    };
    for (let told = 0, rounds = 0; !stage.campaign.progress().done && rounds < 200; rounds++) {
      await stage.play(100);
      for (; told < stage.posts.length; told++) {
        if (isRefused(told)) continue;
        await stage.tell(told, "call.ringing");
        await stage.tell(told, "call.failed", told % 3 ? "busy" : "rejected");
      }
    }
    /** The contacts and attempts of some POSTs. */
    const keysOf = (on: typeof stage, posts: readonly number[]): Promise<readonly string[]> =>
      Promise.all(
        posts.map(async (post) => {
          const { context } = await on.received(post, "call.ringing");
          return `${context.contact}/${context.attempt}`;
        }),
      );
    expect(stage.campaign.progress().done).toBe(true);
    expect(cuts.length).toBeGreaterThan(20);
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
