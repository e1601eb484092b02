import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Playout, quotaRate } from "../../../../src/emulator/recording/playout.ts";
import { processorTime } from "../../processor.ts";

/** @param left - seconds */
const playing = (left = 600) => new Playout(8_000, { left: left * quotaRate });

const samples = (count: number) => new Int16Array(count).fill(9);

const heard = (playout: Playout, now = 10_000) =>
  playout.played(now).map(({ chunk_id, from, samples: { length } }) => [chunk_id, from, length]);

describe("what an application says", () => {
  it("is heard piece after piece, from now at the earliest", () => {
    const playout = playing();
    playout.enqueue(samples(10), "a", 5);
    playout.enqueue(samples(10), "b", 7);
    playout.enqueue(samples(10), "c", 100);
    expect(heard(playout)).toEqual([
      ["a", 5, 10],
      ["b", 15, 10],
      ["c", 100, 10],
    ]);
  });

  it("is heard later where nothing was played for a while, and whole", () => {
    const playout = playing();
    playout.enqueue(samples(10), "a", 0);
    playout.enqueue(samples(10), "b", 0);
    playout.skip(4, 100);
    expect(heard(playout)).toEqual([
      ["a", 0, 4],
      ["a", 100, 6],
      ["b", 106, 10],
    ]);
    playout.enqueue(samples(10), "c", 200);
    playout.skip(200, 300);
    expect(playout.interrupt("c", 305)).toBe(5);
  });

  it("has its progress: how much of all was played or dropped, whatever delayed it", () => {
    const playout = playing();
    const progress = (now: number) => playout.progress(now).samples;
    playout.enqueue(samples(10), "a", 0);
    playout.enqueue(samples(10), "b", 0);
    expect([progress(0), progress(4)]).toEqual([0, 4]);
    playout.skip(4, 100);
    expect([progress(100), progress(103), progress(108), progress(200)]).toEqual([4, 7, 12, 20]);
    playout.enqueue(samples(10), "c", 200);
    playout.clear(203);
    expect(progress(300)).toBe(30);
  });

  it("changes when a message begins, is delayed, ends or is cut, and not while it plays", () => {
    const playout = playing();
    const changes = (now: number) => playout.progress(now).changes;
    const all = [changes(0)];
    playout.enqueue(samples(10), "a", 0);
    all.push(changes(0));
    expect(changes(9)).toBe(all[1]);
    playout.skip(0, 20);
    all.push(changes(20));
    expect(changes(29)).toBe(all[2]);
    all.push(changes(30));
    playout.enqueue(samples(10), "b", 40);
    all.push(changes(40));
    playout.clear(40);
    all.push(changes(40));
    expect(new Set(all).size).toBe(6);
  });

  it("is over when so much of all was played or dropped, which a delay moves", () => {
    const playout = playing();
    playout.enqueue(samples(10), "a", 5);
    playout.enqueue(samples(10), "b", 5);
    const { total } = playout;
    expect([total, playout.overAt(10), playout.overAt(total)]).toEqual([20, 15, 25]);
    expect(playout.nextEnd).toBe(15);
    playout.skip(8, 108);
    expect([playout.overAt(10), playout.overAt(total)]).toEqual([115, 125]);
    playout.clear(109);
    expect(playout.overAt(total)).toBe(0);
    expect(playout.nextEnd).toBeUndefined();
  });

  it("is heard as far as time has come", () => {
    const playout = playing();
    playout.enqueue(samples(10), "a", 5);
    playout.enqueue(samples(10), "b", 5);
    expect(playout.played(5)).toEqual([]);
    expect(playout.played(17)).toEqual([
      { chunk_id: "a", from: 5, samples: samples(10), total: 10, end: "played" },
      { chunk_id: "b", from: 15, samples: samples(2), total: 10, end: "playing" },
    ]);
  });

  it("stops where it is interrupted, and what follows comes earlier", () => {
    const playout = playing();
    for (const name of ["a", "b", "b", "c"]) playout.enqueue(samples(10), name, 0);
    expect(playout.interrupt("b", 14)).toBe(16);
    expect(playout.interrupt("a", 16)).toBe(0);
    expect(heard(playout)).toEqual([
      ["a", 0, 10],
      ["b", 10, 4],
      ["c", 14, 10],
    ]);
    expect(playout.played(99)[1]).toMatchObject({ total: 10, end: "cut" });
  });

  it("stays where it is when something later is interrupted", () => {
    const playout = playing();
    for (const name of ["a", "b", "c"]) playout.enqueue(samples(10), name, 0);
    playout.interrupt("b", 5);
    expect(heard(playout)).toEqual([
      ["a", 0, 10],
      ["c", 10, 10],
    ]);
  });

  it("is silent after clear, and what was heard was heard", () => {
    const playout = playing();
    playout.enqueue(samples(10), undefined, 0);
    playout.enqueue(samples(10), undefined, 0);
    expect(playout.clear(4)).toBe(16);
    expect(heard(playout)).toEqual([[undefined, 0, 4]]);
    playout.enqueue(samples(10), undefined, 6);
    expect(heard(playout).at(-1)).toEqual([undefined, 6, 10]);
  });

  it("says where so much of it was heard", () => {
    const playout = playing();
    playout.enqueue(samples(10), "a", 5);
    playout.enqueue(samples(10), "b", 100);
    expect(playout.reached(50, 0, 99)).toBeUndefined();
    expect(playout.reached(50, 0, 101)).toBe(100);
    expect(playout.reached(0, 15, 104)).toBeUndefined();
    expect(playout.reached(0, 10, 200)).toBe(15);
    expect(playout.reached(0, 11, 200)).toBe(101);
    expect(playout.reached(8, 8, 200)).toBe(101);
  });

  it("is what a telephone would play, whatever is said, interrupted and cleared", () => {
    const act = fc.record({
      what: fc.constantFrom("say", "interrupt", "clear"),
      name: fc.constantFrom("a", "b", "c"),
      size: fc.nat(20),
      later: fc.nat(15),
    });
    fc.assert(
      fc.property(fc.array(act), (acts) => {
        const playout = playing();
        // The rule, sample by sample: what is heard is the first of what waits.
        let waiting: string[] = [];
        const line: (string | undefined)[] = [];
        let now = 0;
        const pass = (to: number) => {
          for (; now < to; now++) line.push(waiting.shift());
        };
        for (const { what, name, size, later } of acts) {
          pass(now + later);
          if (what === "say") {
            playout.enqueue(samples(size), name, now);
            waiting.push(...Array<string>(size).fill(name));
          } else {
            const before = waiting.length;
            waiting = what === "clear" ? [] : waiting.filter((each) => each !== name);
            const thrown = what === "clear" ? playout.clear(now) : playout.interrupt(name, now);
            expect(thrown).toBe(before - waiting.length);
          }
        }
        pass(now + 50);
        const seen: (string | undefined)[] = Array(now).fill(undefined);
        for (const { chunk_id, from, samples: each } of playout.played(now)) {
          seen.fill(String(chunk_id), from, from + each.length);
        }
        expect(seen).toEqual(line);
      }),
      { numRuns: 1_000 },
    );
  });

  it("beyond its quota is refused, and what is thrown away makes room", () => {
    const playout = playing(10);
    for (let second = 0; second < 10; second++) {
      expect(playout.enqueue(samples(8_000), second, 0)).toBe(true);
    }
    expect(playout.enqueue(samples(8_000), "more", 0)).toBe(false);
    playout.clear(4_000);
    for (let second = 0; second < 9; second++) {
      expect(playout.enqueue(samples(8_000), second, 4_000)).toBe(true);
    }
    expect(playout.enqueue(samples(8_000), "more", 4_000)).toBe(false);
  });

  it("counts ten milliseconds at least, and nothing when it is empty", () => {
    const playout = playing(1);
    for (let count = 0; count < 1_000; count++)
      expect(playout.enqueue(samples(0), "a", 0)).toBe(true);
    for (let count = 0; count < 100; count++)
      expect(playout.enqueue(samples(1), "a", 0)).toBe(true);
    expect(playout.enqueue(samples(1), "a", 0)).toBe(false);
  });
});

describe("a flood of messages", () => {
  const many = 40_000;
  const floods: Readonly<Record<string, (playout: Playout, index: number) => void>> = {
    "empty ones": (playout) => playout.enqueue(samples(0), "a", 0),
    "tiny ones": (playout, index) => playout.enqueue(samples(1), index, 0),
    "tiny ones, heard at once": (playout, index) => playout.enqueue(samples(1), index, index),
    "tiny ones of one name": (playout) => playout.enqueue(samples(1), "a", 0),
    "each interrupted": (playout, index) => {
      playout.enqueue(samples(1), index, 0);
      playout.interrupt(index, 0);
    },
    "each interrupted behind a long one": (playout, index) => {
      playout.enqueue(samples(index ? 1 : 80_000), index, 0);
      if (index) playout.interrupt(index, 1);
    },
    "the first of many interrupted": (playout, index) => {
      if (index < many / 2) playout.enqueue(samples(1), index, 0);
      else playout.interrupt(index - many / 2, 0);
    },
    "interruptions of nothing": (playout, index) => {
      if (index < many / 2) playout.enqueue(samples(1), index, 0);
      else playout.interrupt("nothing", 0);
    },
    clears: (playout, index) => {
      playout.enqueue(samples(1), index, 0);
      playout.clear(0);
    },
  };

  it.each(Object.entries(floods))("of %s costs each the same", (_, flood) => {
    const playout = playing(many);
    const start = processorTime();
    for (let index = 0; index < many; index++) flood(playout, index);
    // A quadratic one takes seconds, this a few hundredths of one.
    expect(processorTime() - start).toBeLessThan(1_000);
  });
});
