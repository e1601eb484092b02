import { expect, test } from "vitest";
import { PacketTimes } from "../../../src/exchange/connection.ts";

/** The places of packets of 20 ms that come at these times, in milliseconds since the answer. */
const placesOf = (arrivals: readonly number[]): readonly number[] => {
  const times = new PacketTimes();
  return arrivals.map((at) => times.place(at * 8, 160) / 8);
};

/** So many times from one on, each so long after the other. */
const from = (first: number, count: number, interval: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => first + at * interval);

/** Packets without a gap, and none twice. */
const inOrder = (count: number, first: number) => from(first, count, 20);

test.each([0, 5, 12, 15])(
  "what has waited for a stall of 300 ms, and then comes each %d ms, is where it was said, without a gap and nothing twice",
  (interval) => {
    const waited = from(1_300, 15, interval);
    const late = (waited.at(-1) ?? 0) + Math.max(1, interval);
    // Meanwhile more was said: it comes as fast, until all is in time.
    const rest = Array.from({ length: 100 }, (_, at) =>
      Math.max(late + at * interval, 1_320 + at * 20),
    );
    const arrivals = [...from(20, 50, 20), ...waited, ...rest];
    expect(placesOf(arrivals)).toEqual(inOrder(arrivals.length, 0));
  },
);

test("after a pause of the telephone's its packets are at their own time, but for the first few", () => {
  const places = placesOf([...from(20, 50, 20), ...from(1_520, 50, 20)]);
  expect(places.slice(0, 53)).toEqual(inOrder(53, 0));
  expect(places.slice(53)).toEqual(inOrder(47, 1_560));
});

test("packets that jitter by 40 ms stay in order", () => {
  const arrivals = from(20, 50, 20).map((at, index) => at + (index % 3) * 20);
  expect(placesOf(arrivals)).toEqual(inOrder(50, 0));
});
