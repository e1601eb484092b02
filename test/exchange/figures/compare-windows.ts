import { readWav } from "../../../src/emulator/recording/wav.ts";
import type { Packet } from "../telephone/rtp.ts";

/** Samples of a window, and how far its lag may be from the first one's. */
const window = 16_000;
const [farthest, drift] = [4_000, 480];

/** How late a packet may be, in samples, before there was a pause. */
const longestLate = 1_600;

const correlation = (one: Int16Array, from: number, other: Int16Array, at: number): number => {
  let [product, mine, theirs] = [0, 0, 0];
  for (let index = 0; index < window; index += 2) {
    const [left, right] = [one[from + index] ?? 0, other[at + index] ?? 0];
    product += left * right;
    mine += left * left;
    theirs += right * right;
  }
  return mine > 0 && theirs > 0 ? product / Math.sqrt(mine * theirs) : 0;
};

/** The best lag of a window, in samples. */
const lagOf = (
  one: Int16Array,
  from: number,
  other: Int16Array,
  [least, most]: readonly [number, number],
): { readonly lag: number; readonly best: number } => {
  let found = { lag: 0, best: -1 };
  for (let lag = least; lag <= most; lag++) {
    const best = correlation(one, from, other, from + lag);
    if (best > found.best) found = { lag, best };
  }
  return found;
};

/** Compares window by window: the least correlation, and how far lags are from the first. */
const compare = (one: Int16Array, other: Int16Array): string => {
  const lags: number[] = [];
  const correlations: number[] = [];
  for (let from = window; from + 2 * window < one.length; from += window) {
    const [first] = lags;
    const range =
      first === undefined
        ? ([-farthest, farthest] as const)
        : ([first - drift, first + drift] as const);
    const { lag, best } = lagOf(one, from, other, range);
    lags.push(lag);
    correlations.push(best);
  }
  const ms = (samples: number) => Math.round(samples / 8);
  const [first = 0] = lags;
  const lowest = Math.min(...correlations).toFixed(4);
  const under = correlations.filter((each) => each < 0.99).length;
  return `correlation ≥ ${lowest} (${under} of ${correlations.length} windows below 0.99), lag ${ms(Math.min(...lags) - first)} to ${ms(Math.max(...lags) - first)} ms`;
};

const channelsOf = (file: Uint8Array) => {
  const view = new DataView(file.buffer, file.byteOffset + 44);
  const isStereo = new DataView(file.buffer, file.byteOffset).getUint16(22, true) === 2;
  if (!isStereo) return { left: readWav(file).samples, right: readWav(file).samples };
  const count = Math.floor(view.byteLength / 4);
  const channel = (at: number) =>
    Int16Array.from({ length: count }, (_, index) => view.getInt16(4 * index + 2 * at, true));
  return { left: channel(0), right: channel(1) };
};

/** Compares a recording with what a telephone has heard, and with what it has said. */
export const compareWindows = (
  file: Uint8Array,
  packets: readonly Packet[],
  said: Int16Array,
): { readonly heard: string; readonly said: string } => {
  const { left, right } = channelsOf(file);
  const begin = packets[0]?.at ?? 0;
  const heard = new Int16Array(Math.ceil(((packets.at(-1)?.at ?? 0) - begin) * 8) + 2 * window);
  let next = 0;
  for (const { at, samples } of packets) {
    // Time stamps stand still while nothing is sent: a pause is known by its arrival.
    const due = Math.round((at - begin) * 8);
    if (due - next > longestLate) next = due;
    heard.set(samples.subarray(0, Math.max(0, heard.length - next)), next);
    next += samples.length;
  }
  return { heard: compare(right, heard), said: compare(left, said) };
};
