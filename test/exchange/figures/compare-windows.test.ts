import { expect, test } from "vitest";
import { wavHead } from "../../../src/emulator/recording/wav.ts";
import { bytesOf } from "../../../src/lib/encoding.ts";
import { framesOf, voice } from "../telephone/ear.ts";
import type { Packet } from "../telephone/rtp.ts";
import { compareWindows } from "./compare-windows.ts";

const said = voice(2, 20_000);
const played = voice(1, 20_000);

/** How late the telephone is: the way to it, and two packets in Asterisk's queue. */
const latency = 65;

/** A recording in which the callee speaks, and something is played. */
const recordingOf = (left: Int16Array, right: Int16Array): Uint8Array => {
  const both = new Int16Array(2 * right.length);
  for (let at = 0; at < right.length; at++) both.set([left[at] ?? 0, right[at] ?? 0], 2 * at);
  const [head, samples] = [wavHead(right.length, 8_000, 2), bytesOf(both)];
  return Uint8Array.from([...head, ...samples]);
};

/** Packets that are heard or said, each by its number at a time in milliseconds. */
const packetsOf = (sound: Int16Array, arrivalOf: (number: number) => number): readonly Packet[] =>
  framesOf(sound).map((samples, number) => ({
    at: latency + arrivalOf(number),
    sequence: number,
    timestamp: 160 * number,
    samples,
  }));

const compare = (right: Int16Array, packets: readonly Packet[]): string =>
  compareWindows(recordingOf(said, right), { packets, said: [], answeredAt: 0 }).heard;

const compareSaid = (left: Int16Array, packets: readonly Packet[]): string =>
  compareWindows(recordingOf(left, played), { packets: [], said: packets, answeredAt: 0 }).said;

/** A packet in so many is left out, as the telephone waited for 20 ms before, and is late by as much. */
const every = 40;
const waits = (number: number) => (number % every > every / 2 ? 20 : 0);
const withPauses = () => {
  const recorded = new Int16Array(played.length);
  let at = 0;
  for (const [number, samples] of framesOf(played).entries()) {
    if (at + samples.length > recorded.length) break;
    recorded.set(samples, at);
    at += (number + 1) % every === 0 ? 320 : 160;
  }
  return recorded;
};

test("a telephone that waits again and again, each time as long as is left out later, has heard what is recorded", () => {
  const packets = packetsOf(played, (number) => {
    const pauses = Math.floor(number / every);
    return 20 * (number + pauses) + waits(number);
  });
  const found = /correlation ≥ (\S+) \(0 of .*, lag (\S+) to (\S+) ms/.exec(
    compare(withPauses(), packets),
  );
  expect(Number(found?.[1])).toBeGreaterThanOrEqual(0.99);
  expect(Math.abs(Number(found?.[2]))).toBeLessThanOrEqual(40);
  expect(Math.abs(Number(found?.[3]))).toBeLessThanOrEqual(40);
});

test("what is recorded and was not heard lessens the correlation of its window", () => {
  const packets = packetsOf(played, (number) => 20 * number);
  const missing = packets.filter((_, number) => number < 500 || number >= 510);
  expect(compare(played, missing)).toContain("(1 of 7 windows below 0.99)");
});

test("what was heard and is not recorded lessens the correlation of its window", () => {
  const recorded = Int16Array.from(played).fill(0, 80_000, 81_600);
  const packets = packetsOf(played, (number) => 20 * number);
  expect(compare(recorded, packets)).toContain("(1 of 7 windows below 0.99)");
});

test("a recording that moves away from what is heard has the lag of it", () => {
  const packets = packetsOf(played, (number) => 20 * number + (number < 500 ? 0 : 100));
  expect(compare(played, packets)).toContain("lag 0 to 100 ms");
});

test("what a telephone has said is in the recording, wherever its packets begin there", () => {
  const recorded = new Int16Array(said.length);
  recorded.set(said.subarray(0, said.length - 77), 77);
  const packets = packetsOf(said, (number) => 20 * number);
  expect(compareSaid(recorded, packets)).toContain("(0 of 7 windows below 0.99), lag 0 to 0 ms");
});

test("what was said and is not recorded lessens the correlation of its window", () => {
  const packets = packetsOf(said, (number) => 20 * number);
  const recorded = Int16Array.from([...said.subarray(0, 80_000), ...said.subarray(81_600)]);
  expect(compareSaid(recorded, packets)).toContain("(1 of 7 windows below 0.99)");
});

test("what is recorded twice at the same time lessens the correlation of its windows", () => {
  const packets = packetsOf(said, (number) => 20 * number);
  const recorded = said.map((sample, at) =>
    at > 80_000 && at < 84_000 ? (sample + (said[at - 800] ?? 0)) / 2 : sample,
  );
  expect(compareSaid(recorded, packets)).toContain("(1 of 7 windows below 0.99)");
});
