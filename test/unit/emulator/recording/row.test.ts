import fc from "fast-check";
import { expect, it } from "vitest";
import { Row } from "../../../../src/emulator/recording/row.ts";

const times = fc.nat(50);

it("a row gives what lies in a stretch, in order, whenever it was added", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(times, times)), times, times, (spans, from, to) => {
      const row = new Row<readonly [number, number]>();
      for (const [start, length] of spans) row.add(start, start + length, [start, length]);
      const expected = spans
        .filter(([start, length]) => start < to && start + length > from)
        .toSorted(([one], [other]) => one - other);
      expect(row.between(from, to)).toEqual(expected);
      expect(row.size).toBe(spans.length);
    }),
  );
});
