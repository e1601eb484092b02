import alawmulaw from "alawmulaw";
import { expect, test } from "vitest";
import { decodeMulaw, encodeMulaw } from "../../../src/lib/mulaw.ts";

const all = Int16Array.from({ length: 65_536 }, (_, at) => at - 32_768);

/**
 * The rule of G.711, table 2a, written out: eight segments that end at these values of a 14-bit magnitude,
 * each of 16 equal steps, but that the first step of all is half as wide.
 */
const ends = [31, 95, 223, 479, 991, 2015, 4063, 8159];
const decisions = ends.flatMap((end, segment) => {
  const from = ends[segment - 1] ?? -1;
  return Array.from({ length: 16 }, (_, step) => from + ((end - from) / 16) * step);
});
/** Between two decision values lies one output; the first of all is 0. */
const outputs = decisions.map((from, at) => {
  const to = decisions[at + 1] ?? 8159;
  return at === 0 ? 0 : (from + to) / 2;
});

/** Positive 0 is all ones; codes go down as magnitudes go up; a negative one lacks the first bit. */
const codeOf = (sample: number): number => {
  // The reference of the ITU takes the magnitude of a negative sample in ones' complement.
  const magnitude = Math.floor((sample < 0 ? -sample - 1 : sample) / 4);
  const step = decisions.findLastIndex((from) => magnitude >= Math.max(0, from));
  return 255 - step - (sample < 0 ? 128 : 0);
};

test("every 16-bit sample has the code of G.711's table", () => {
  expect(encodeMulaw(all)).toEqual(Uint8Array.from(all, codeOf));
});

test("every code stands for the value of G.711's table", () => {
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const values = Int16Array.from(codes, (code) => {
    const magnitude = 4 * (outputs[127 - (code & 127)] ?? 0);
    return code < 128 ? -magnitude : magnitude;
  });
  expect(decodeMulaw(codes)).toEqual(values);
});

test("coded again, every code is itself, but that the two zeros are one", () => {
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const again = encodeMulaw(decodeMulaw(codes));
  expect([...again].filter((code, at) => code !== at)).toEqual([255]);
});

test("the widespread routine of Sun gives another code for 127 samples, all negative", () => {
  const theirs = alawmulaw.mulaw.encode(all);
  const ours = encodeMulaw(all);
  const others = [...all].filter((_, at) => ours[at] !== theirs[at]);
  expect(others).toHaveLength(127);
  expect(Math.max(...others)).toBeLessThan(0);
});
