import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BadParametersException, ForbiddenException } from "../../../src/errors.ts";
import { noon, numberOf, people, stageOf } from "./stage.ts";

describe("a long list", () => {
  it("holds up no retry: who is due is called before those that were never called", async () => {
    const stage = await stageOf({ rate: 1, attempts: 2, retryDelay: 900_000 });
    await stage.campaign.add(people(3_000));
    await stage.play(0);
    await stage.tell(0, "call.failed", "busy");
    const due = stage.now + 900_000;
    await stage.play(1_000_000);
    const again = stage.posts.findLastIndex(({ to_number }) => to_number === numberOf(0));
    const claimed = [...stage.campaign.audit()].find(
      ({ event, attempt }) => event === "claimed" && attempt === 2,
    );
    expect(again).toBeGreaterThan(0);
    expect(claimed?.at).toBeGreaterThanOrEqual(due);
    expect(claimed?.at).toBeLessThanOrEqual(due + 2_000);
  });

  it("nor one whose retry the service made wait by a pause", async () => {
    const stage = await stageOf({ rate: 1, attempts: 2, retryDelay: 60_000 });
    await stage.campaign.add(people(1_000));
    await stage.play(0);
    await stage.tell(0, "call.failed", "busy");
    await stage.play(59_000);
    stage.answer = ({ to_number }) => {
      if (to_number !== numberOf(0)) return { id: `cs_${stage.posts.length - 1}` };
      throw new ForbiddenException("HTTP 403", { placed: "no", code: 403 });
    };
    await stage.play(10_000);
    expect(stage.campaign.progress()).toMatchObject({ state: "paused" });
    const before = stage.posts.length;
    stage.answer = () => ({ id: "cs_again" });
    await stage.campaign.resume();
    await stage.play(1_000);
    expect(stage.posts[before]?.to_number).toBe(numberOf(0));
  });
});

describe("contacts", () => {
  it("are reported by line and reason when they are refused, without the value", async () => {
    const { campaign } = await stageOf({ prefixes: ["+1202"], variables: ["note"] });
    const list: unknown[] = [
      { to_number: numberOf(1) },
      { to_number: "0170 1234567" },
      { to_number: "+4917012345" },
      { to_number: numberOf(2), timezone: "Europe/Atlantis" },
      { to_number: numberOf(3), id: "" },
      { to_number: numberOf(4), variables: { note: "x".repeat(800) } },
      { to_number: numberOf(5), name: "Ada" },
      {},
      { to_number: numberOf(6), variables: { note: 7 } },
      { to_number: "+1", line: 99 },
      null,
    ];
    const { added, refused } = await campaign.add(Object(list));
    expect(added).toBe(1);
    expect(refused.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 99, 10]);
    const reasons = refused.map(({ reason }) => reason).join("\n");
    expect(reasons).toMatchInlineSnapshot(`
      "to_number must be an E.164 number: "+" and 7 to 15 digits
      to_number begins with none of the allowed prefixes
      timezone must be an IANA time zone with its area, such as "Europe/Berlin"
      id must be a text of 1 to 64 bytes
      variables must be at most 700 bytes
      name is unknown
      to_number is missing
      variables must be an object of strings
      to_number must be an E.164 number: "+" and 7 to 15 digits
      a field must be an object, not null"
    `);
    expect(reasons).not.toMatch(/0170|Atlantis|Ada|49170/);
  });

  it("come out of anything that can be iterated, a page at a time", async () => {
    const { campaign } = await stageOf();
    let taken = 0;
    let most = 0;
    const list = async function* () {
      for (const contact of people(5_000)) {
        taken++;
        most = Math.max(most, taken - campaign.progress().contacts);
        yield contact;
      }
    };
    expect(await campaign.add(list())).toMatchObject({ added: 5_000 });
    expect(most).toBeLessThanOrEqual(5_000);
  });

  it("that were added before what broke the list are there, and go on from there", async () => {
    const { campaign } = await stageOf();
    const list = function* () {
      yield* people(4_100);
      throw new Error("the file has ended early");
    };
    await expect(campaign.add(list())).rejects.toThrow("ended early");
    expect(await campaign.add(people(4_200))).toMatchObject({ added: 100, duplicate: 4_100 });
  });

  it("may grow while calls go on, and known ones keep what they have", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.completed");
    expect(await stage.campaign.add(people(2))).toMatchObject({ added: 1, duplicate: 1 });
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0), numberOf(1)]);
  });
});

describe("the do-not-call list", () => {
  it("skips who waits at once, and who is added later", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(2));
    expect(await stage.campaign.block([numberOf(0), numberOf(2)])).toBe(2);
    expect(await stage.campaign.block(numberOf(0))).toBe(0);
    await stage.campaign.add(people(3));
    expect(stage.campaign.progress()).toMatchObject({ blocked: 2, waiting: 1 });
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual([numberOf(1)]);
  });

  it("keeps who is being called from another attempt", async () => {
    const stage = await stageOf({ attempts: 2, retryDelay: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.campaign.block(numberOf(0));
    await stage.tell(0, "call.failed", "busy");
    await stage.play(120_000);
    expect(stage.posts).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ blocked: 1, done: true });
  });

  it("takes no half of a list", async () => {
    const { campaign } = await stageOf();
    await expect(campaign.block([numberOf(0), "nobody"])).rejects.toThrow(BadParametersException);
    expect(await campaign.block(numberOf(0))).toBe(1);
  });
});

describe("a long do-not-call list", () => {
  const count = 9_000;
  const numbers = Array.from({ length: count }, (_, index) => `+4930${1_000_000 + index}`);

  let timers: (() => void)[];

  beforeEach(() => {
    timers = [];
    vi.stubGlobal("setTimeout", (wake: () => void) => timers.push(wake));
  });

  afterEach(() => {
    vi.unstubAllGlobals();
  });

  /** One timer rings, and whatever follows from it is done until the next one is set. */
  const ring = async (): Promise<void> => {
    timers.shift()?.();
    await turn();
  };

  const listedIn = (database: DatabaseSync): number =>
    Number(database.prepare("select count(*) as n from outdial_blocked").get()?.n);

  /** How many numbers more are on the list after each turn of the timers, until the work is done. */
  const growth = async (database: DatabaseSync, work: Promise<unknown>) => {
    const counts: number[] = [];
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      counts.push(listedIn(database));
      await ring();
    }
    await done;
    counts.push(listedIn(database));
    expect(counts.at(-1)).toBeGreaterThanOrEqual(count);
    return counts.map((each, index) => each - (counts[index - 1] ?? 0));
  };

  it.each(["nobody", "somebody"])(
    "is written 1,000 at a time, also when %s was erased",
    async (who) => {
      const database = new DatabaseSync(":memory:");
      const { campaign } = await stageOf({}, database);
      await campaign.add(people(1));
      if (who === "somebody") await campaign.erase(numberOf(0));
      const steps = await growth(database, campaign.block(numbers));
      expect(Math.max(...steps)).toBeLessThanOrEqual(1_000);
    },
  );

  it("of sync is written 1,000 at a time, too", async () => {
    const database = new DatabaseSync(":memory:");
    const { campaign } = await stageOf({}, database);
    const steps = await growth(database, campaign.sync([], { doNotCall: numbers }));
    expect(Math.max(...steps)).toBeLessThanOrEqual(1_000);
  });

  it("lets calls begin while it is written", async () => {
    const database = new DatabaseSync(":memory:");
    const stage = await stageOf({}, database);
    await stage.campaign.add(people(1));
    const blocked = stage.campaign.block(numbers);
    while (listedIn(database) === 0) await ring();
    await stage.campaign.step();
    expect(stage.posts).toHaveLength(1);
    expect(listedIn(database)).toBeLessThan(count);
    await growth(database, blocked);
  });
});

describe("the hours", () => {
  const window = { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };

  it("hold calls until they begin, each contact by its own clock", async () => {
    const stage = await stageOf({ window });
    await stage.campaign.add([
      { to_number: numberOf(0) },
      { to_number: numberOf(1), timezone: "America/New_York" },
    ]);
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0)]);
    expect(await stage.campaign.step()).toBe(noon + 3_750_000); // the horizon of the first
    await stage.tell(0, "call.completed");
    expect(await stage.campaign.step()).toBe(Date.parse("2026-06-03T13:00:00Z"));
    await stage.play(4 * 3_600_000);
    expect(stage.posts).toHaveLength(2);
  });

  it("end for good at until", async () => {
    const stage = await stageOf({ window, until: new Date(noon + 5_000), rate: 1 });
    await stage.campaign.add(people(100));
    await stage.play(60_000);
    expect(stage.posts).toHaveLength(5);
    expect(stage.campaign.progress()).toMatchObject({ expired: 95, calling: 5 });
    await stage.tell(0, "call.failed", "busy");
    expect(stage.campaign.progress()).toMatchObject({ busy: 1 });
  });
});

describe("limits", () => {
  it("concurrency is that of the calls that live, by what the notifications tell", async () => {
    const stage = await stageOf({ concurrency: 3 });
    await stage.campaign.add(people(10));
    await stage.play(10_000);
    expect(stage.posts).toHaveLength(3);
    await stage.tell(0, "call.answered");
    await stage.play(10_000);
    expect(stage.posts).toHaveLength(3);
    await stage.tell(0, "call.completed");
    await stage.play(10_000);
    expect(stage.posts).toHaveLength(4);
  });

  it("perDay is a day's by the clock of the first window, also in another process", async () => {
    const window = { days: "sun-sat", from: "00:00", to: "24:00", timezone: "Europe/Berlin" };
    const stage = await stageOf({ perDay: 4, window });
    await stage.campaign.add(people(10));
    await stage.play(2_000);
    const again = await stage.reopen();
    await again.play(Date.parse("2026-06-03T21:59:00Z") - again.now);
    expect(stage.posts.length + again.posts.length).toBe(4);
    await again.play(120_000);
    expect(stage.posts.length + again.posts.length).toBe(8);
  });

  it("prefixes that allow nobody are refused", async () => {
    await expect(stageOf({ prefixes: [] })).rejects.toThrow(
      /prefixes must be a list of one or more/,
    );
  });

  it.each(["EST", "CET", "PST8PDT", "+05:30", "Etc/GMT-5", "Japan"])(
    "a time zone without its area is refused: %s",
    async (timezone) => {
      const { campaign } = await stageOf();
      const { refused } = await campaign.add([{ to_number: "+12025550100", timezone }]);
      expect(refused).toMatchObject([{ line: 1, reason: expect.stringMatching(/IANA/) }]);
    },
  );

  it("a pace below one call a second is kept by the process that follows", async () => {
    const stage = await stageOf({ rate: 0.01 });
    await stage.campaign.add(people(2));
    await stage.play();
    stage.now += 50_000;
    const next = await stage.reopen();
    await next.play(40_000);
    expect(next.posts).toHaveLength(0);
    await next.play(20_000);
    expect(next.posts).toHaveLength(1);
  });

  it("prefixes also hold for contacts that are in the list already", async () => {
    const stage = await stageOf();
    await stage.campaign.add([{ to_number: "+4915112345678" }]);
    const again = await stage.reopen({ prefixes: ["+1202"] });
    await again.play();
    expect(again.posts).toEqual([]);
    expect(again.campaign.progress()).toMatchObject({ refused: 1 });
  });
});

describe("a campaign", () => {
  it("ends who waits when it is canceled; those who are being called come to their end", async () => {
    const stage = await stageOf({ rate: 1, attempts: 2 });
    await stage.campaign.add(people(3_000));
    await stage.play(500);
    stage.campaign.cancel();
    await stage.play(60_000);
    expect(stage.campaign.progress()).toMatchObject({ canceled: 2_999, calling: 1 });
    await stage.tell(0, "call.failed", "busy");
    expect(stage.campaign.progress()).toMatchObject({ busy: 1, done: true, state: "canceled" });
    stage.campaign.resume();
    expect(stage.campaign.progress().state).toBe("canceled");
  });

  it("can be audited: every change of state with its time", async () => {
    const stage = await stageOf({ attempts: 2, retryDelay: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play(1_000);
    await stage.tell(0, "call.failed", "busy");
    await stage.play(61_000);
    await stage.tell(1, "call.completed", "normal");
    const reported = Array.from(stage.campaign.audit(), ({ at, event, attempt, detail }) =>
      [at - noon, event, attempt, detail].join(" ").trim(),
    );
    expect(reported).toMatchInlineSnapshot(`
      [
        "0 opened",
        "0 claimed 1",
        "0 placed 1 cs_0",
        "1000 waiting 1 busy",
        "61000 claimed 2",
        "61000 placed 2 cs_1",
        "62000 completed 2 normal",
      ]
    `);
  });

  it("is held up by no clock that is set back, once it is opened again", async () => {
    const stage = await stageOf({ attempts: 2, retryDelay: 60_000, settleTimeout: 60_000 });
    await stage.campaign.add(people(2));
    await stage.play();
    await stage.tell(0, "call.failed", "busy"); // its next attempt is due in a minute, by that clock
    stage.now = noon - 86_400_000;
    const again = await stage.reopen();
    await again.play(121_000);
    expect(again.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0)]);
    expect(again.campaign.progress()).toMatchObject({ unknown: 2, done: true });
  });

  it("runs to its end by itself, on the clock on the wall", async () => {
    const stage = await stageOf({ clock: () => Date.now(), rate: 200, concurrency: 2 });
    await stage.campaign.add(people(20));
    const tell = async (post: number) => {
      await stage.tell(post, "call.completed");
    };
    stage.answer = () => {
      const post = stage.posts.length - 1;
      setTimeout(tell, 5, post);
      return { id: `cs_${post}` };
    };
    const progress = await stage.campaign.run();
    expect(progress).toMatchObject({ done: true, completed: 20 });
  });

  it("stops at a signal, after the answers that are under way", async () => {
    const stage = await stageOf({ clock: () => Date.now(), rate: 20 });
    await stage.campaign.add(people(50));
    const stop = new AbortController();
    let answered = 0;
    stage.answer = async () => {
      setTimeout(() => stop.abort(), 10);
      await new Promise((resolve) => setTimeout(resolve, 50));
      answered++;
      return { id: "cs_0" };
    };
    await stage.campaign.run(stop);
    expect(answered).toBe(stage.posts.length);
    expect(stage.posts.length).toBeLessThan(5);
  });

  it("that is closed begins no call any more, whoever steps", async () => {
    const stage = await stageOf({ clock: () => Date.now(), rate: 5 });
    await stage.campaign.add(people(50));
    const running = stage.campaign.run();
    const step = stage.campaign.step();
    await stage.campaign.close();
    const before = stage.posts.length;
    expect(await running).toMatchObject({ done: false });
    await step;
    expect(await stage.campaign.step()).toBeUndefined();
    expect(stage.posts).toHaveLength(before);
    expect(before).toBeLessThan(50);
  });

  it("no window at all is no window, in plain words", async () => {
    await expect(stageOf({ window: [] })).rejects.toThrow("window must be one window or more");
  });

  it.each([
    ["Berlin", 'window.timezone must be an IANA time zone with its area, such as "Europe/Berlin"'],
    ["Europe/Berlin", undefined],
  ])(
    "in the time zone %s has an error that says what is wrong, or none",
    async (timezone, text) => {
      const window = { days: "mon", from: "09:00", to: "20:00", timezone };
      for (const each of [window, [window]]) {
        const error = await stageOf({ window: each }).catch((thrown: Error) => thrown);
        if (text === undefined) expect(error).not.toBeInstanceOf(Error);
        else
          expect(error).toMatchObject({
            message: expect.stringMatching(/timezone must be an IANA/),
          });
      }
    },
  );

  it("says what a storage must be that is a closed database", async () => {
    const database = new DatabaseSync(":memory:");
    database.close();
    const opening = stageOf({}, database);
    await expect(opening).rejects.toThrow(BadParametersException);
    await expect(opening).rejects.toThrow(/storage must be an open database, .*not a closed one/);
  });

  it("says what a storage must be that is the name of a file", async () => {
    const opening = stageOf({}, Object("people.db").valueOf());
    await expect(opening).rejects.toThrow(BadParametersException);
    await expect(opening).rejects.toThrow(
      'storage must be an open database, such as new DatabaseSync("people.outdial") of node:sqlite, not a string',
    );
  });

  it.each([
    [{ rate: 0 }, "rate"],
    [{ window: "at night" }, "window"],
    [{ window: { days: "mon", from: "9", to: "20:00", timezone: "UTC" } }, "window"],
    [{ secret: "short" }, "secret"],
    [{ retryOn: ["completed"] }, "retryOn"],
    [{ prefixes: ["49"] }, "prefixes"],
    [{ flow_url: `https://app.test/${"x".repeat(700)}` }, "flow_url"],
    [{ flow_url: `https://app.test/${"ü".repeat(400)}` }, "flow_url"],
    [{ retries: 3 }, "retries"],
    [{ attempts: 101 }, "attempts"],
    [{ settleTimeout: 999 }, "settleTimeout"],
    [{ variables: Array.from({ length: 51 }, (_, index) => `v${index}`) }, "variables"],
  ])("refuses the option %j", async (options, param) => {
    const error = await stageOf(Object(options)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(BadParametersException);
    expect(error.issues[0].param).toContain(param);
  });
});
