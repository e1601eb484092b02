import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { LedgerException, openLedger } from "../../../src/campaigns/index.ts";
import { noon, numberOf, people, secret, stageOf } from "./stage.ts";

const folders: string[] = [];
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), "ledger-"));
  folders.push(made);
  return made;
};
afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true });
});

const reasonOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return "none";
  } catch (error) {
    if (!(error instanceof LedgerException)) throw error;
    return error.reason;
  }
};

describe("8: one process dials from a ledger", () => {
  it("a second one is refused, until the first has closed", async () => {
    const file = join(folder(), "people.outdial");
    const first = await stageOf({}, new DatabaseSync(file));
    expect(await reasonOf(() => stageOf({}, new DatabaseSync(file)))).toBe("in_use");
    await first.campaign.close();
    expect(await reasonOf(() => stageOf({}, new DatabaseSync(file)))).toBe("none");
  });

  it("a second close of the first changes nothing of the second's file", async () => {
    const file = join(folder(), "people.outdial");
    const first = await stageOf({}, new DatabaseSync(file));
    await first.campaign.close();
    const database = new DatabaseSync(file);
    const second = await stageOf({}, database);
    await first.campaign.close();
    const open = database.prepare("select value from outdial_fact where name = 'open'");
    expect(open.get()).toEqual({ value: 1 });
    await second.campaign.close();
    expect(open.get()).toEqual({ value: 0 });
  });

  it("a block waits for another program, and no call begins before it is in the ledger", async () => {
    const file = join(folder(), "people.outdial");
    const { campaign, posts } = await stageOf({}, new DatabaseSync(file));
    await campaign.add(people(2));
    const other = new DatabaseSync(file);
    other.exec("begin exclusive");
    const blocked = campaign.block(numberOf(0));
    await campaign.step();
    expect(campaign.busy).toBe(true);
    other.close();
    await campaign.step();
    expect(posts).toEqual([]);
    expect(await blocked).toBe(1);
    await campaign.step();
    expect(posts.map(({ to_number }) => to_number)).toEqual([numberOf(1)]);
  });

  it("what is read says that another program holds the file, and that it does no more", async () => {
    const file = join(folder(), "people.outdial");
    const { campaign } = await stageOf({}, new DatabaseSync(file));
    await campaign.add(people(2));
    const other = new DatabaseSync(file);
    other.exec("begin exclusive");
    expect(campaign.progress()).toMatchObject({ waiting: 0 });
    expect(campaign.busy).toBe(true);
    other.close();
    expect(campaign.progress()).toMatchObject({ waiting: 2 });
    expect(campaign.busy).toBe(false);
  });

  describe.each(["a file", "memory"])("after close, in %s", (where) => {
    const closed = async () => {
      const file = where === "memory" ? ":memory:" : join(folder(), "people.outdial");
      const database = new DatabaseSync(file);
      const stage = await stageOf({}, database);
      await stage.campaign.add(people(1));
      await stage.play();
      const received = await stage.received(0, "call.completed");
      await stage.campaign.close();
      return { ...stage, database, received };
    };

    it("whatever would change the campaign is refused, and it can be read", async () => {
      const { campaign, received } = await closed();
      for (const change of [
        () => campaign.add([]),
        () => campaign.sync(people(2)),
        () => campaign.sync(people(2), { confirm: () => false }),
        () => campaign.note(received),
        () => campaign.pause(),
        () => campaign.resume(),
        () => campaign.cancel(),
        () => campaign.block([]),
        () => campaign.erase([]),
      ]) {
        expect([String(change), await reasonOf(change)]).toEqual([String(change), "closed"]);
      }
      expect(await campaign.step()).toBeUndefined();
      expect(await campaign.run()).toMatchObject({ calling: 1 });
      expect(await campaign.drain()).toMatchObject({ calling: 1 });
      expect([...campaign.results()]).toHaveLength(1);
      expect([...campaign.audit()]).toHaveLength(3);
    });

    it("it cannot be read any more once the database is closed", async () => {
      const { campaign, database } = await closed();
      database.close();
      for (const read of [
        () => campaign.progress(),
        () => campaign.run(),
        () => campaign.drain(),
        () => [...campaign.results()],
        () => [...campaign.audit()],
        () => campaign.nextCall,
        () => campaign.lastCall(),
      ]) {
        expect([String(read), await reasonOf(read)]).toEqual([String(read), "closed"]);
      }
      expect(await campaign.step()).toBeUndefined();
    });

    it("a list that is still being read is refused from its next page on", async () => {
      const { campaign, reopen } = await stageOf(
        {},
        new DatabaseSync(where === "memory" ? ":memory:" : join(folder(), "people.outdial")),
      );
      const list = async function* () {
        yield* people(4_000); // a page
        await campaign.close();
        yield { to_number: "+491234567" };
      };
      expect(await reasonOf(() => campaign.add(list()))).toBe("closed");
      expect((await reopen()).campaign.progress()).toMatchObject({ waiting: 4_000 });
    });
  });

  it("looking and blocking go on meanwhile", async () => {
    const file = join(folder(), "people.outdial");
    const { campaign, play, posts } = await stageOf({}, new DatabaseSync(file));
    await campaign.add(people(2));
    const ledger = openLedger(new DatabaseSync(file));
    expect(await ledger.block(people(1)[0]?.to_number ?? "")).toBe(1);
    expect(ledger.progress()).toMatchObject({ contacts: 2, waiting: 1, blocked: 1 });
    await play();
    expect(posts).toHaveLength(1);
    expect(Array.from(ledger.results(), ({ disposition }) => disposition)).toEqual([
      "blocked",
      undefined,
    ]);
  });
});

describe("a ledger is of one campaign", () => {
  it.each([
    ["flow", { flow_url: "https://app.test/flow?other" }],
    ["service", { service: "https://other.test" }],
  ])("another %s is refused", async (_, other) => {
    const stage = await stageOf();
    expect(await reasonOf(() => stage.reopen(other))).toBe("other_campaign");
  });

  it("the refusal names what a ledger belongs to, which a sender is not", () => {
    expect(new LedgerException("other_campaign").message).toMatch(/its flow, service or account/);
  });

  it("sender, rate, hours, attempts and the address of notifications may change", async () => {
    const stage = await stageOf();
    const status_callback_url = "https://tunnel.test/status";
    const other = {
      from_number: "+12025550198",
      rate: 2,
      attempts: 3,
      status_callback_url,
      until: new Date(stage.now + 1e6),
    };
    expect(await reasonOf(() => stage.reopen(other))).toBe("none");
  });

  it("a file of anything else is none", async () => {
    expect(await reasonOf(() => openLedger(new DatabaseSync(":memory:")))).toBe("not_a_ledger");
  });

  it("looking at a file of anything else changes no byte of it", async () => {
    const file = join(folder(), "theirs.db");
    for (const statements of ["", "create table theirs (x)"]) {
      const theirs = new DatabaseSync(file);
      theirs.exec(statements);
      theirs.close();
      const before = readFileSync(file);
      const database = new DatabaseSync(file);
      expect(await reasonOf(() => openLedger(database))).toBe("not_a_ledger");
      database.close();
      expect(readFileSync(file).equals(before)).toBe(true);
    }
  });

  it("one of a newer version is refused", async () => {
    const database = new DatabaseSync(":memory:");
    await stageOf({}, database);
    database.exec("update outdial_fact set value = 99 where name = 'version'");
    expect(await reasonOf(() => stageOf({}, database))).toBe("newer");
  });
});

describe("what is in the file", () => {
  it("is synced at every commit, and overwritten when it is deleted", async () => {
    const database = new DatabaseSync(join(folder(), "people.outdial"));
    await stageOf({}, database);
    expect(database.prepare("pragma journal_mode").get()).toEqual({ journal_mode: "truncate" });
    expect(database.prepare("pragma synchronous").get()).toEqual({ synchronous: 2 });
    expect(database.prepare("pragma secure_delete").get()).toEqual({ secure_delete: 1 });
  });

  it("is neither secret nor a query of the flow's URL", async () => {
    const home = folder();
    const flow_url = "https://app.test/flow?token=a-token-of-theirs";
    const database = new DatabaseSync(join(home, "people.outdial"));
    const { campaign, play } = await stageOf({ flow_url }, database);
    await campaign.add(people(3));
    await play();
    for (const file of readdirSync(home)) {
      const bytes = readFileSync(join(home, file), "latin1");
      expect(bytes).not.toContain(secret);
      expect(bytes).not.toContain("a-token-of-theirs");
    }
  });

  it("is no byte of an erased contact, who is refused from then on", async () => {
    const home = folder();
    const { campaign, play, posts, tell } = await stageOf(
      { variables: ["name"], concurrency: 10 },
      new DatabaseSync(join(home, "people.outdial")),
    );
    const ada = { to_number: "+4915112345678", id: "ada-17", variables: { name: "Ada Lovelace" } };
    await campaign.add([...people(5), ada, ...people(1000).slice(5)]);
    await campaign.block("+4915112345679");
    await play(100);
    const found = (text: string) =>
      readdirSync(home).filter((file) => readFileSync(join(home, file), "latin1").includes(text));
    const marks = [ada.to_number, ada.id, "Ada Lovelace", "cs_5", "+4915112345679"];
    for (const mark of marks) expect(found(mark)).not.toEqual([]);
    expect(await campaign.erase([ada.to_number, "+4915112345679"])).toBe(1);
    for (const mark of marks) expect(found(mark)).toEqual([]);
    const reason = "to_number was erased";
    expect(await campaign.add([ada, { to_number: "+4915112345679" }])).toEqual({
      added: 0,
      duplicate: 0,
      refused: [
        { line: 1, reason },
        { line: 2, reason },
      ],
    });
    // What the call comes to is still counted.
    const index = posts.findIndex(({ to_number }) => to_number === ada.to_number);
    await tell(index, "call.completed");
    expect(campaign.progress()).toMatchObject({ completed: 1 });
    expect(found("cs_5")).toEqual([]);
  });
});

it("everything that is done from outside has the time of the campaign's clock", async () => {
  const database = new DatabaseSync(":memory:");
  const stage = await stageOf({}, database);
  await stage.campaign.add(people(3));
  const ledger = openLedger(database, { secret, clock: () => noon + 5 });
  const before = [...ledger.audit()].length;
  await ledger.block(numberOf(0));
  await ledger.unblock(numberOf(0), "asked to be called");
  await ledger.erase(numberOf(1));
  await ledger.stop();
  await ledger.endCalls();
  const times = [...ledger.audit()].slice(before).map(({ at }) => at - noon);
  expect(times.length).toBeGreaterThan(4);
  expect(new Set(times)).toEqual(new Set([5]));
});
