import type { Packet } from "../telephone/rtp.ts";

/** Samples of a window and of a packet. */
const window = 16_000;
const frame = 160;

/** How far from its time in the recording a packet is looked for, in milliseconds. */
const reach = 1_000;

/** From which correlation on a packet is known without a search. */
const same = 0.98;

/** Sums of products, of which correlations are made. */
interface Products {
  readonly product: number;
  readonly mine: number;
  readonly theirs: number;
}

const productsOf = (one: Int16Array, from: number, other: Int16Array, at: number): Products => {
  let [product, mine, theirs] = [0, 0, 0];
  for (let index = 0; index < frame; index++) {
    const [left, right] = [one[from + index] ?? 0, other[at + index] ?? 0];
    product += left * right;
    mine += left * left;
    theirs += right * right;
  }
  return { product, mine, theirs };
};

const correlationOf = ({ product, mine, theirs }: Products): number =>
  mine > 0 && theirs > 0 ? product / Math.sqrt(mine * theirs) : 0;

/** What was found of a window: its lag is in samples. */
interface Found {
  readonly lag: number;
  readonly correlation: number;
}

/** The windows of a recording, without its first and its last ones: the sounds begin and end there. */
const windowsOf = (recorded: Int16Array): readonly number[] =>
  Array.from({ length: Math.ceil(recorded.length / window) }, (_, at) => at * window).filter(
    (from) => from > 0 && from + 2 * window < recorded.length,
  );

/** What a telephone has heard or said: the samples of its packets, and when each packet came or left, in samples since the answer. */
interface Sound {
  readonly samples: Int16Array;
  readonly times: readonly number[];
}

/** The place of a frame in a sound: the one after the last, or the best of all about then. */
const placeOf = (recorded: Int16Array, from: number, sound: Sound, next: number): number => {
  const { samples, times } = sound;
  const correlationAt = (at: number) => correlationOf(productsOf(recorded, from, samples, at));
  let best = { at: next, correlation: correlationAt(next) };
  if (best.correlation >= same) return next;
  const most = (reach * 8_000) / 1_000;
  for (const [number, time] of times.entries()) {
    if (Math.abs(time - from) > most) continue;
    for (let at = number * frame; at < (number + 1) * frame; at++) {
      const correlation = correlationAt(at);
      if (correlation > best.correlation) best = { at, correlation };
    }
  }
  return best.at;
};

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

/**
 * Finds each window of a recording in what was heard or said, packet by packet: where a process stalls, the telephone waits,
 * and what follows is late until the exchange leaves out as much. So each packet has a lag of its own.
 */
const findPackets = (recorded: Int16Array, sound: Sound): readonly Found[] => {
  let [next, isBegun] = [0, false];
  return windowsOf(recorded).map((begin) => {
    const lags: number[] = [];
    let [product, mine, theirs] = [0, 0, 0];
    for (let from = begin; from < begin + window; from += frame) {
      // Nothing was played then, as Asterisk had enough.
      if (recorded.subarray(from, from + frame).every((sample) => sample === 0)) continue;
      const at = placeOf(recorded, from, sound, next);
      const found = productsOf(recorded, from, sound.samples, at);
      product += found.product;
      mine += found.mine;
      theirs += found.theirs;
      if (correlationOf(found) >= same) {
        const time = sound.times[Math.floor(at / frame)] ?? Number.NaN;
        lags.push(time + (at % frame) - from);
        // What was heard or said in between is not in the recording.
        for (; isBegun && next < at; next++) theirs += (sound.samples[next] ?? 0) ** 2;
        [next, isBegun] = [at + frame, true];
      }
    }
    return { lag: median(lags), correlation: correlationOf({ product, mine, theirs }) };
  });
};

/** The least correlation, and how far lags are from the first. */
const summaryOf = (found: readonly Found[]): string => {
  const ms = (samples: number) => Math.round(samples / 8);
  const correlations = found.map(({ correlation }) => correlation);
  const [first = Number.NaN, ...others] = found.map(({ lag }) => lag).filter(Number.isFinite);
  const lags = [0, ...others.map((lag) => lag - first)];
  const under = correlations.filter((each) => !(each >= 0.99)).length;
  return `correlation ≥ ${Math.min(...correlations).toFixed(4)} (${under} of ${found.length} windows below 0.99), lag ${ms(Math.min(...lags))} to ${ms(Math.max(...lags))} ms`;
};

/** A channel: 0 is what the callee has said, 1 what was played. */
const channelOf = (file: Uint8Array, channel: 0 | 1): Int16Array => {
  const view = new DataView(file.buffer, file.byteOffset + 44);
  const length = Math.floor(view.byteLength / 4);
  return Int16Array.from({ length }, (_, index) => view.getInt16(4 * index + 2 * channel, true));
};

/** What a telephone has heard and said, and when it was answered, by the clock of its packets. */
interface Telephone {
  readonly packets: readonly Packet[];
  readonly said: readonly Packet[];
  readonly answeredAt: number;
}

/** Compares both sides of a recording with what a telephone has heard and said. */
export const compareWindows = (
  file: Uint8Array,
  { packets, said, answeredAt }: Telephone,
): { readonly heard: string; readonly said: string } => {
  const compare = (channel: 0 | 1, all: readonly Packet[]): string => {
    const samples = new Int16Array(all.length * frame);
    for (const [number, packet] of all.entries()) samples.set(packet.samples, number * frame);
    const times = all.map(({ at }) => Math.round((at - answeredAt) * 8));
    return summaryOf(findPackets(channelOf(file, channel), { samples, times }));
  };
  return { heard: compare(1, packets), said: compare(0, said) };
};
