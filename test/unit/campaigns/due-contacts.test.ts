import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openLedger } from "../../../src/campaigns/index.ts";
import { randomOf } from "../../random.ts";
import { numberOf, people, stageOf } from "./stage.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const zones = ["", "America/New_York", "Pacific/Auckland", "Australia/Lord_Howe"];
const window = {
  ...{ days: "mon-sat", from: "09:00", to: "20:00", timezone: "Europe/Berlin" },
  except: ["2026-03-30", "2026-10-26"],
};

/** The hours of all zones begin and end with a quarter of an hour. */
const quarter = 15 * minute;

const clocks = new Map(
  zones.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat("sv-SE", {
      ...{ timeZone: timeZone || window.timezone, dateStyle: "short", timeStyle: "short" },
    }),
  ]),
);

/** Whether a quarter of an hour is one of the hours, read off a clock on the wall. */
const naive = new Map<string, boolean>();
const isOpen = (at: number, zone: string): boolean => {
  const key = `${zone} ${Math.floor(at / quarter)}`;
  const known = naive.get(key);
  if (known !== undefined) return known;
  const [date = "", time = ""] = clocks.get(zone)?.format(at).split(" ") ?? [];
  const isSunday = new Date(`${date}T00:00:00Z`).getUTCDay() === 0;
  const open = !isSunday && !window.except.includes(date) && time >= "09:00" && time < "20:00";
  naive.set(key, open);
  return open;
};

/** A contact as the model has it: by what it waits (a call-back, a retry, its first turn), and for when. */
interface Waiting {
  readonly contact: number;
  readonly zone: string;
  readonly turn: 0 | 1 | 2;
  readonly due: number;
}

/** Who is to be called at a time: all are looked at. */
const next = (all: ReadonlyMap<number, Waiting>, now: number): Waiting | undefined =>
  [...all.values()]
    .filter(({ due, zone }) => due <= now && isOpen(now, zone))
    .sort((a, b) => a.turn - b.turn || a.due - b.due || a.contact - b.contact)[0];

/** When anybody is to be called at the latest: every quarter of an hour is looked at. */
const nextTime = (all: ReadonlyMap<number, Waiting>, now: number): number => {
  const times = [...all.values()].map(({ due, zone }) => {
    let at = Math.max(due, now);
    while (!isOpen(at, zone)) at = (Math.floor(at / quarter) + 1) * quarter;
    return at;
  });
  return Math.min(...times);
};

describe("who is called next is whom a naive model names, and nobody is late", () => {
  it.each([
    ["2026-03-27T17:00:00Z", 1],
    ["2026-03-28T09:00:00Z", 2],
    ["2026-10-23T15:00:00Z", 3],
    ["2026-10-24T12:00:00Z", 4],
    ["2026-04-03T15:00:00Z", 5], // Auckland and Lord Howe put their clocks back
    ["2026-09-25T18:00:00Z", 6],
  ])("from %s on, by the seed %s", async (start, seed) => {
    const random = randomOf(seed);
    const pick = (most: number): number => Math.floor(random() * most);
    const retryOn = { busy: { after: 10 * minute, attempts: 3 }, no_answer: { after: 5 * hour } };
    const first = await stageOf({
      window,
      retryOn,
      rate: 1,
      callBacks: 2,
      settleTimeout: 30 * day,
    });
    first.now = Date.parse(start);
    const stage = await first.reopen();
    const model = new Map<number, Waiting>();
    const list = people(60).map(({ to_number }, contact) => {
      const zone = zones[pick(zones.length)] ?? "";
      const isTimed = random() < 0.3;
      const due = isTimed ? stage.now + Math.floor(random() * 3 * day) : 0;
      model.set(contact, { contact, zone, turn: isTimed ? 0 : 2, due });
      return {
        ...{ to_number, ...(zone && { timezone: zone }) },
        ...(isTimed && { call_at: new Date(due) }),
      };
    });
    await stage.campaign.add(list);
    const zoneOf = new Map([...model].map(([contact, { zone }]) => [contact, zone]));
    const attempts = new Map<number, number>();
    const added = new Map<number, number>();
    const live: number[] = [];
    let last = Number.NEGATIVE_INFINITY;

    /** Ends a call as chance has it; some ask to be called back before. */
    const endOne = async (): Promise<void> => {
      const [post = -1] = live.splice(pick(live.length), 1);
      const contact = people(60).findIndex(
        ({ to_number }) => to_number === stage.posts[post]?.to_number,
      );
      const zone = zoneOf.get(contact) ?? "";
      const more = added.get(contact) ?? 0;
      const made = attempts.get(contact) ?? 0;
      if (random() < 0.25) {
        const at = stage.now + Math.floor(random() * day) - hour;
        expect(await stage.campaign.callBack(numberOf(contact), new Date(at))).toBe(more < 2);
        if (more < 2) {
          added.set(contact, more + 1);
          await stage.tell(post, "call.completed", "normal");
          model.set(contact, { contact, zone, turn: 0, due: Math.max(at, stage.now) });
          return;
        }
      }
      const [reason = "", after = 0, most = 0] = [
        ["busy", 10 * minute, 3] as const,
        ["no_answer", 5 * hour, 2] as const,
        ["rejected", 0, 0] as const,
      ][pick(3)] ?? ["rejected"];
      await stage.tell(post, "call.failed", reason);
      if (made < most + more)
        model.set(contact, { contact, zone, turn: 1, due: stage.now + after });
    };

    for (let steps = 0; model.size > 0 || live.length > 0; steps++) {
      expect(steps).toBeLessThan(5_000);
      const before = stage.posts.length;
      const wanted = stage.now - last >= 1_000 ? next(model, stage.now) : undefined;
      const wake = (await stage.campaign.step()) ?? Number.POSITIVE_INFINITY;
      await stage.campaign.idle();
      expect(stage.posts.slice(before).map(({ to_number }) => to_number)).toEqual(
        wanted ? [numberOf(wanted.contact)] : [],
      );
      if (wanted) {
        live.push(before);
        last = stage.now;
        model.delete(wanted.contact);
        attempts.set(wanted.contact, (attempts.get(wanted.contact) ?? 0) + 1);
      }
      const isEnded = live.length > 0 && (model.size === 0 || random() < 0.3);
      if (isEnded) await endOne();
      // What has changed is known by the next step.
      if (isEnded || model.size === 0) continue;
      // Nobody waits for longer than the model says.
      expect(wake).toBeLessThanOrEqual(Math.max(nextTime(model, stage.now), last + 1_000));
      stage.now = Math.max(stage.now, Math.min(wake, stage.now + 1_000 * 2 ** pick(24)));
    }
    expect(stage.posts.length).toBeGreaterThan(60);
    expect(stage.campaign.progress()).toMatchObject({ done: true, waiting: 0 });
  });
});

it("in a list of 100,000, whose due retries take all of the pace, none is late by a second", async () => {
  const retryOn = { busy: { after: minute, attempts: 4 } };
  const stage = await stageOf({ retryOn, rate: 5, concurrency: 100 });
  const numbers = Array.from({ length: 100_000 }, (_, index) => ({
    to_number: `+49301${String(index).padStart(6, "0")}`,
  }));
  await stage.campaign.add(numbers);
  const due = new Map<string, number>();
  let [steps, retries, latest] = [0, 0, 0];
  const end = stage.now + 6 * minute;
  for (; stage.now < end; steps++) {
    const before = stage.posts.length;
    const wake = await stage.campaign.step();
    await stage.campaign.idle();
    for (let post = before; post < stage.posts.length; post++) {
      const number = stage.posts[post]?.to_number ?? "";
      const promised = due.get(number);
      if (promised !== undefined) {
        retries++;
        latest = Math.max(latest, stage.now - promised);
      }
      await stage.tell(post, "call.failed", "busy");
      due.set(number, stage.now + minute);
    }
    stage.now = Math.max(stage.now, Math.min(wake ?? end, end));
  }
  expect(latest).toBeLessThan(1_000);
  expect(retries).toBeGreaterThan(1_190);
  expect(stage.posts.length).toBeGreaterThan(1_790);
  // A step or two a call: nothing is looked for in the list.
  expect(steps).toBeLessThan(2 * stage.posts.length + 10);
});

describe("the statements of a step", () => {
  /** A database that counts its statements. */
  const counted = () => {
    const database = new DatabaseSync(":memory:");
    const all = { count: 0 };
    const counting = {
      exec: (statements: string) => database.exec(statements),
      close: () => database.close(),
      prepare: (statement: string) => {
        const prepared = database.prepare(statement);
        return {
          all: (...values: (string | number | null)[]) => {
            all.count++;
            return prepared.all(...values);
          },
        };
      },
    };
    return { all, counting };
  };

  /** How many statements 200 steps take that call somebody, with contacts in so many zones. */
  const statementsWith = async (zones: number): Promise<number> => {
    const { all, counting } = counted();
    const hours = { days: "sun-sat", from: "00:00", to: "23:59", timezone: "Europe/Berlin" };
    const stage = await stageOf({ window: hours, rate: 1, concurrency: 5_000 }, counting);
    const names = Intl.supportedValuesOf("timeZone").filter((zone) => zone.includes("/"));
    const list = people(2_000).map(({ to_number }, index) => ({
      ...{ to_number, timezone: names[index % zones] ?? "" },
    }));
    await stage.campaign.add(list);
    await stage.play(10_000);
    const before = { count: all.count, posts: stage.posts.length };
    while (stage.posts.length < before.posts + 200) await stage.play(1_000);
    return all.count - before.count;
  };

  it("are as few in 400 time zones as in one, but for a few", async () => {
    expect(await statementsWith(400)).toBeLessThan(1.3 * (await statementsWith(1)));
  });

  it("are 7 while all slots are taken", async () => {
    const { all, counting } = counted();
    const { campaign, play } = await stageOf({ concurrency: 2 }, counting);
    await campaign.add(people(5));
    await play();
    const before = all.count;
    for (let steps = 0; steps < 10; steps++) await campaign.step();
    expect(all.count - before).toBeLessThanOrEqual(70);
  });
});

it("somebody who waits anew by another process is called, in whichever zone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hopper-"));
  const file = join(folder, "people.outdial");
  const stage = await stageOf({}, new DatabaseSync(file));
  await stage.campaign.add([{ to_number: numberOf(0), timezone: "Asia/Tokyo" }]);
  await stage.campaign.block(numberOf(0));
  await stage.play();
  const other = new DatabaseSync(file);
  await openLedger(other).unblock(numberOf(0), "asked for a call");
  other.close();
  await stage.play();
  expect(stage.posts).toHaveLength(1);
  await stage.campaign.close();
  rmSync(folder, { recursive: true });
});
