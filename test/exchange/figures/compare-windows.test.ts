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

/** A recording in which something is played, and the callee speaks. */
const recordingOf = (right: Int16Array): Uint8Array => {
  const both = new Int16Array(2 * right.length);
  for (let at = 0; at < right.length; at++) both.set([said[at] ?? 0, right[at] ?? 0], 2 * at);
  const [head, samples] = [wavHead(right.length, 8_000, 2), bytesOf(both)];
  return Uint8Array.from([...head, ...samples]);
};

/** Packets that are heard, each by its number at a time in milliseconds. */
const heard = (sound: Int16Array, arrivalOf: (number: number) => number): readonly Packet[] =>
  framesOf(sound).map((samples, number) => ({
    at: latency + arrivalOf(number),
    sequence: number,
    timestamp: 160 * number,
    samples,
  }));

const compare = (right: Int16Array, packets: readonly Packet[]): string =>
  compareWindows(recordingOf(right), packets, 0);

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
  const packets = heard(played, (number) => {
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
  const packets = heard(played, (number) => 20 * number);
  const missing = packets.filter((_, number) => number < 500 || number >= 510);
  expect(compare(played, missing)).toContain("(1 of 7 windows below 0.99)");
});

test("what was heard and is not recorded lessens the correlation of its window", () => {
  const recorded = Int16Array.from(played).fill(0, 80_000, 81_600);
  const packets = heard(played, (number) => 20 * number);
  expect(compare(recorded, packets)).toContain("(1 of 7 windows below 0.99)");
});

test("a recording that moves away from what is heard has the lag of it", () => {
  const packets = heard(played, (number) => 20 * number + (number < 500 ? 0 : 100));
  expect(compare(played, packets)).toContain("lag 0 to 100 ms");
});
