import { describe, expect, it } from "vitest";
import { Journal } from "../../../../src/emulator/line/journal.ts";

describe("the journal", () => {
  it("tells each listener everything from the moment it listens, in order", async () => {
    const journal = new Journal<number>();
    journal.tell(0);
    const one = journal[Symbol.asyncIterator]();
    journal.tell(1);
    const other = journal[Symbol.asyncIterator]();
    journal.tell(2);
    journal.close();
    const all = async (iterator: AsyncIterator<number>) => {
      const seen = [];
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
        seen.push(next.value);
      }
      return seen;
    };
    expect(await all(one)).toEqual([1, 2]);
    expect(await all(other)).toEqual([2]);
  });

  it("answers several questions at once in order", async () => {
    const journal = new Journal<number>();
    const iterator = journal[Symbol.asyncIterator]();
    const asked = [iterator.next(), iterator.next()];
    journal.tell(1);
    journal.tell(2);
    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual([1, 2]);
  });

  it("ends a loop that waits when it is left or closed", async () => {
    const journal = new Journal<number>();
    const left = journal[Symbol.asyncIterator]();
    const waiting = left.next();
    await left.return?.();
    expect((await waiting).done).toBe(true);
    const closed = journal[Symbol.asyncIterator]().next();
    journal.close();
    expect((await closed).done).toBe(true);
  });
});
