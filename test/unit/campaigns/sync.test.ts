import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openLedger, type SyncPlan } from "../../../src/campaigns/index.ts";
import { BadParametersException, ServiceException } from "../../../src/errors.ts";
import { noon, numberOf, people, stageOf } from "./stage.ts";

const retries = { attempts: 3, retryDelay: 60_000, retryOn: ["busy"] } as const;

const called = ({ posts }: { posts: readonly { to_number: string }[] }) =>
  posts.map(({ to_number }) => to_number);

describe("a contact that is no longer in the list", () => {
  it("isn't called, and is again once it is in the list again", async () => {
    const stage = await stageOf();
    await stage.campaign.sync(people(3));
    expect(await stage.campaign.sync(people(2))).toMatchObject({ removed: 1, listed: 2 });
    expect(stage.campaign.progress()).toMatchObject({ waiting: 2, canceled: 1 });
    expect(await stage.campaign.sync(people(3))).toMatchObject({ restored: 1, removed: 0 });
    await stage.play();
    expect(called(stage)).toHaveLength(3);
  });

  it("gets no further attempt when it left while its call was live", async () => {
    const stage = await stageOf(retries);
    await stage.campaign.sync(people(1));
    await stage.play();
    await stage.campaign.sync([]);
    await stage.tell(0, "call.failed", "busy");
    await stage.play(600_000);
    expect(called(stage)).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ busy: 1, done: true });
  });

  it("gets no further attempt when it left while it was unknown", async () => {
    const stage = await stageOf({ ...retries, settleTimeout: 60_000 });
    await stage.campaign.sync(people(1));
    await stage.play(120_000);
    expect(stage.campaign.progress()).toMatchObject({ unknown: 1 });
    const again = await stage.reopen();
    await again.campaign.sync([]);
    await again.campaign.note(await stage.received(0, "call.failed", "busy"));
    await again.play(600_000);
    expect(called(again)).toEqual([]);
    expect(again.campaign.progress()).toMatchObject({ busy: 1, done: true });
  });

  it("gets no further attempt when its POST is refused and would be repeated", async () => {
    const stage = await stageOf(retries);
    await stage.campaign.sync(people(1));
    let refuse = (): void => {};
    stage.answer = () =>
      new Promise((_, reject) => {
        refuse = () => reject(new ServiceException("HTTP 429", { placed: "no", code: 429 }));
      });
    await stage.campaign.step();
    await stage.campaign.sync([]);
    refuse();
    await stage.play(600_000);
    expect(called(stage)).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ canceled: 1, done: true });
  });

  it("ends as its last call did when it waited for another attempt", async () => {
    const stage = await stageOf(retries);
    await stage.campaign.sync(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.campaign.sync([]);
    await stage.play(600_000);
    expect(called(stage)).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ busy: 1, done: true });
  });

  it("gets its next attempt when it is in the list again before the end of its call", async () => {
    const stage = await stageOf(retries);
    await stage.campaign.sync(people(1));
    await stage.play();
    await stage.campaign.sync([]);
    await stage.campaign.sync(people(1));
    await stage.tell(0, "call.failed", "busy");
    await stage.play(61_000);
    expect(called(stage)).toHaveLength(2);
  });

  it("stays called: who was called isn't called again by a later list", async () => {
    const stage = await stageOf();
    await stage.campaign.sync(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "canceled");
    await stage.campaign.sync([]);
    expect(await stage.campaign.sync(people(1))).toMatchObject({ restored: 0, added: 0 });
    await stage.play();
    expect(called(stage)).toHaveLength(1);
  });
});

describe("a changed row", () => {
  const window = { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };

  it("of somebody who was never called brings id, variables and time zone", async () => {
    const stage = await stageOf({ variables: ["name"] });
    await stage.campaign.sync([{ to_number: numberOf(0), id: "a", variables: { name: "Ad" } }]);
    const mended = { to_number: numberOf(0), id: "b", variables: { name: "Ada" } };
    expect(await stage.campaign.sync([mended])).toMatchObject({ changed: 1, added: 0 });
    expect(Array.from(stage.campaign.results(), ({ id }) => id)).toEqual(["b"]);
  });

  it("brings a mended time zone between two attempts, and while a call is live", async () => {
    for (const when of ["calling", "waiting"]) {
      const stage = await stageOf({ ...retries, window });
      const [row = { to_number: "" }] = people(1);
      await stage.campaign.sync([row]);
      await stage.play();
      if (when === "waiting") await stage.tell(0, "call.failed", "busy");
      await stage.campaign.sync([{ ...row, timezone: "Pacific/Auckland" }]); // where it is 22:00
      if (when === "calling") await stage.tell(0, "call.failed", "busy");
      await stage.play(3_600_000);
      expect(called(stage)).toHaveLength(1);
      await stage.play(11 * 3_600_000); // 9:00 there
      expect(called(stage)).toHaveLength(2);
    }
  });
});

describe("two rows with one number", () => {
  const [row = { to_number: "" }] = people(1);
  const rows = [
    { ...row, timezone: "Europe/Berlin", line: 2 },
    { ...row, timezone: "America/New_York", line: 5 },
  ];
  const refused = [
    { line: 2, reason: "timezone differs from that of line 5, which has the same to_number" },
    { line: 5, reason: "timezone differs from that of line 2, which has the same to_number" },
  ];

  it("and two time zones are both refused, and nobody is called", async () => {
    const stage = await stageOf();
    expect(await stage.campaign.sync(rows)).toMatchObject({ refused, listed: 0, added: 0 });
    await stage.play();
    expect(called(stage)).toEqual([]);
  });

  it("and two time zones are both refused by add, and nobody is called", async () => {
    const stage = await stageOf();
    expect(await stage.campaign.add(rows)).toMatchObject({ refused });
    await stage.play();
    expect(called(stage)).toEqual([]);
    expect(stage.campaign.progress()).toMatchObject({ refused: 1 });
  });

  it("and two time zones are both refused by add, also when the first is the one that is known", async () => {
    const stage = await stageOf();
    await stage.campaign.add(rows.slice(0, 1));
    expect(await stage.campaign.add(rows)).toMatchObject({ refused, duplicate: 2 });
    await stage.play();
    expect(called(stage)).toEqual([]);
    expect(stage.campaign.progress()).toMatchObject({ refused: 1 });
  });

  it("and the same time zone are a duplicate; one that names none is one too", async () => {
    const stage = await stageOf();
    const same = [...rows.slice(0, 1), ...rows.slice(0, 1), row];
    expect(await stage.campaign.sync(same)).toMatchObject({ duplicate: 2, refused: [], added: 1 });
    expect(await stage.campaign.add(same)).toMatchObject({ duplicate: 3, refused: [] });
  });
});

describe("a plan", () => {
  it("counts what would change, and changes nothing when it isn't confirmed", async () => {
    const stage = await stageOf();
    await stage.campaign.sync(people(4));
    await stage.campaign.block(numberOf(7));
    const before = [...stage.campaign.results(), ...stage.campaign.audit()];
    let plan: SyncPlan | undefined;
    const list = [
      { to_number: numberOf(0), id: "new" },
      { to_number: numberOf(0) },
      { to_number: numberOf(1) },
      { to_number: numberOf(6) },
      { to_number: numberOf(7) },
      { to_number: numberOf(8) },
      { to_number: "nobody", line: 9 },
    ];
    const { applied } = await stage.campaign.sync(list, {
      doNotCall: [numberOf(1), numberOf(8)],
      confirm: (given) => {
        plan = given;
        return false;
      },
    });
    expect(applied).toBe(false);
    expect(plan).toEqual({
      listed: 5,
      duplicate: 1,
      refused: [{ line: 9, reason: expect.stringContaining("to_number must be") }],
      added: 1,
      blocked: 2,
      newlyBlocked: 1,
      restored: 0,
      changed: 1,
      removed: 2,
      appointments: 0,
      sharedIds: { count: 0, lines: [] },
      corrected: { count: 0, lines: [] },
      retries: {},
      warnings: [],
    });
    expect([...stage.campaign.results(), ...stage.campaign.audit()]).toEqual(before);
    expect(await stage.campaign.sync(list, { doNotCall: [numberOf(1), numberOf(8)] })).toEqual({
      ...plan,
      applied: true,
    });
    expect(stage.campaign.progress()).toMatchObject({ waiting: 2, blocked: 3, canceled: 2 });
  });

  it.each([
    ["a text that is no number", { doNotCall: "+1202" }],
    ["a number with spaces", { doNotCall: ["+1 202 555 0001"] }],
    ["a number that is no text", { doNotCall: [12_025_550_001] }],
    ["no list", { doNotCall: 5 }],
    ["null", { doNotCall: null }],
    ["an unknown option", { donotcall: [numberOf(1)] }],
    ["a confirm that is no function", { confirm: "yes" }],
  ])("changes nothing when its options break a rule: %s", async (_, options) => {
    const { campaign } = await stageOf();
    await campaign.add(people(1));
    await expect(Reflect.apply(campaign.sync, campaign, [people(2), options])).rejects.toThrow(
      BadParametersException,
    );
    expect(campaign.progress()).toMatchObject({ contacts: 1, waiting: 1, blocked: 0 });
  });

  it("takes one number alone for its do-not-call list", async () => {
    const { campaign } = await stageOf();
    const plan = await campaign.sync(people(2), { doNotCall: numberOf(1) });
    expect(plan).toMatchObject({ added: 1, blocked: 1, applied: true });
  });

  it("isn't applied when the list breaks in the middle", async () => {
    const stage = await stageOf();
    await stage.campaign.sync(people(2));
    const broken = function* () {
      yield* people(5).slice(3);
      throw new Error("the file has ended early");
    };
    await expect(stage.campaign.sync(broken())).rejects.toThrow("ended early");
    expect(stage.campaign.progress()).toMatchObject({ waiting: 2, contacts: 2 });
    expect(await stage.campaign.sync(people(3))).toMatchObject({ added: 1, applied: true });
  });

  it("covers lists of more than a page, in order", async () => {
    const stage = await stageOf();
    await stage.campaign.sync(people(6_000));
    const list = people(12_000).slice(5_500);
    expect(await stage.campaign.sync(list)).toMatchObject({ added: 6_000, removed: 5_500 });
    const waiting = Array.from(stage.campaign.results()).filter(({ disposition }) => !disposition);
    expect(waiting.map(({ to_number }) => to_number)).toEqual(
      list.map(({ to_number }) => to_number),
    );
  });
});

it("writes the rows of a list in transactions: the end of each costs as much as all rows before it", async () => {
  const database = new DatabaseSync(":memory:");
  let isOpen = false;
  const alone: string[] = [];
  const watched = {
    exec: (statements: string) => database.exec(statements),
    close: () => database.close(),
    prepare: (statement: string) => {
      const prepared = database.prepare(statement);
      return {
        all: (...values: (string | number | null)[]) => {
          if (statement.startsWith("begin")) isOpen = true;
          if (statement === "commit") isOpen = false;
          if (statement.startsWith("insert into outdial_draft ") && !isOpen) alone.push(statement);
          return prepared.all(...values);
        },
      };
    },
  };
  const stage = await stageOf({}, watched);
  for (const _ of ["a first", "a second"]) await stage.campaign.sync(people(9_000));
  expect(alone).toEqual([]);
});

describe("a new process", () => {
  it("keeps to the Retry-After that the one before was given", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = () => {
      throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 7_200 });
    };
    await stage.play(0);
    const again = await stage.reopen();
    await again.play(7_199_000);
    expect(called(again)).toEqual([]);
    await again.play(2_000);
    expect(called(again)).toHaveLength(1);
    expect(again.now).toBe(noon + 7_201_000);
  });
});

describe("rows with one id and several numbers are one person", () => {
  const row = (at: number, id: string, more: object = {}) => ({
    ...{ to_number: numberOf(at), id, line: at + 2 },
    ...more,
  });
  const doubled = [row(0, "A"), row(1, "B"), row(2, "A"), row(3, "A"), row(4, "C")];
  const blockedIn = (stage: Awaited<ReturnType<typeof stageOf>>) =>
    [...stage.campaign.results()].flatMap(({ to_number, disposition }) =>
      disposition === "blocked" ? [to_number] : [],
    );

  it("which the plan tells, by line", async () => {
    const { campaign } = await stageOf();
    const plan = await campaign.sync(doubled);
    expect(plan.sharedIds).toEqual({ count: 3, lines: [2, 4, 5] });
    expect(plan.corrected.count).toBe(0);
    expect((await campaign.sync(people(5))).sharedIds.count).toBe(0);
  });

  it("of whom all numbers are blocked with one, and unblocked with one", async () => {
    const stage = await stageOf();
    await stage.campaign.sync(doubled);
    const all = [0, 2, 3].map(numberOf);
    expect([...stage.campaign.samePerson(numberOf(2))].sort()).toEqual(all);
    expect(stage.campaign.samePerson(numberOf(1))).toEqual([numberOf(1)]);
    expect(await stage.campaign.block(numberOf(2))).toBe(1);
    expect(blockedIn(stage)).toEqual(all);
    await stage.play();
    expect(called(stage)).toEqual([numberOf(1), numberOf(4)]);
    const ledger = openLedger(stage.database);
    expect(await ledger.unblock(numberOf(0), "asked to be called")).toBe(1);
    expect(blockedIn(stage)).toEqual([]);
  });

  it("of whom all numbers are blocked by the list, also those that come later", async () => {
    const stage = await stageOf();
    const plan = await stage.campaign.sync([
      row(0, "A", { doNotCall: true }),
      row(1, "A"),
      row(2, "B"),
    ]);
    expect(plan).toMatchObject({ added: 1, blocked: 2 });
    const later = await stage.campaign.sync([row(2, "B"), row(3, "A"), row(4, "D")]);
    expect(later).toMatchObject({ added: 1, blocked: 1 });
    await stage.campaign.sync([row(2, "B"), row(5, "D")], { doNotCall: numberOf(4) });
    expect(blockedIn(stage).sort()).toEqual([0, 1, 3, 4, 5].map(numberOf));
  });

  it("and a row that corrects a number that was called is told, and called", async () => {
    const stage = await stageOf();
    await stage.campaign.sync([row(0, "A"), row(1, "B")]);
    await stage.play();
    const plan = await stage.campaign.sync([row(5, "A"), row(1, "B"), row(6, "E")]);
    expect(plan.corrected).toEqual({ count: 1, lines: [7] });
    expect(plan.sharedIds.count).toBe(0);
    expect((await stage.campaign.sync([row(5, "A"), row(1, "B")])).corrected.count).toBe(0);
  });

  it("and nothing is written before the plan is confirmed", async () => {
    const stage = await stageOf();
    await stage.campaign.sync(doubled, { confirm: () => false });
    expect(stage.campaign.samePerson(numberOf(0))).toEqual([numberOf(0)]);
  });
});
