import { describe, expect, it } from "vitest";
import { EventLog } from "../../../src/emulator/event-log.ts";

describe("the event log", () => {
  it("gives each loop every event from the moment it starts, in order", async () => {
    const log = new EventLog<number>();
    log.append(0);
    const one = log[Symbol.asyncIterator]();
    log.append(1);
    const other = log[Symbol.asyncIterator]();
    log.append(2);
    log.close();
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

  it("answers several reads at once in order", async () => {
    const log = new EventLog<number>();
    const iterator = log[Symbol.asyncIterator]();
    const asked = [iterator.next(), iterator.next()];
    log.append(1);
    log.append(2);
    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual([1, 2]);
  });

  it("ends a loop that waits when it is left or closed", async () => {
    const log = new EventLog<number>();
    const left = log[Symbol.asyncIterator]();
    const waiting = left.next();
    await left.return?.();
    expect((await waiting).done).toBe(true);
    const closed = log[Symbol.asyncIterator]().next();
    log.close();
    expect((await closed).done).toBe(true);
  });
});
