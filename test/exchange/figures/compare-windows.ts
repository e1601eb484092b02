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

/** What a telephone has heard: the samples of its packets, and when each packet came, in samples since the answer. */
interface Heard {
  readonly samples: Int16Array;
  readonly arrivals: readonly number[];
}

/** The place of a frame in what was heard: the one after the last, or the best of all that came about then. */
const placeOf = (recorded: Int16Array, from: number, heard: Heard, next: number): number => {
  const { samples, arrivals } = heard;
  const correlationAt = (at: number) => correlationOf(productsOf(recorded, from, samples, at));
  let best = { at: next, correlation: correlationAt(next) };
  if (best.correlation >= same) return next;
  const most = (reach * 8_000) / 1_000;
  for (const [number, arrival] of arrivals.entries()) {
    if (Math.abs(arrival - from) > most) continue;
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
 * Finds each window in what was heard, packet by packet: where a process stalls, the telephone waits, and what follows is
 * late until the exchange leaves out as much. So each packet has a lag of its own, by its arrival.
 */
const findPackets = (recorded: Int16Array, heard: Heard): readonly Found[] => {
  let [next, isBegun] = [0, false];
  return windowsOf(recorded).map((begin) => {
    const lags: number[] = [];
    let [product, mine, theirs] = [0, 0, 0];
    for (let from = begin; from < begin + window; from += frame) {
      // Nothing was played then, as Asterisk had enough.
      if (recorded.subarray(from, from + frame).every((sample) => sample === 0)) continue;
      const at = placeOf(recorded, from, heard, next);
      const found = productsOf(recorded, from, heard.samples, at);
      product += found.product;
      mine += found.mine;
      theirs += found.theirs;
      if (correlationOf(found) >= same) {
        const arrival = heard.arrivals[Math.floor(at / frame)] ?? Number.NaN;
        lags.push(arrival + (at % frame) - from);
        // What was heard in between is not in the recording.
        for (; isBegun && next < at; next++) theirs += (heard.samples[next] ?? 0) ** 2;
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

/** The right channel. */
const playedIn = (file: Uint8Array): Int16Array => {
  const view = new DataView(file.buffer, file.byteOffset + 44);
  const length = Math.floor(view.byteLength / 4);
  return Int16Array.from({ length }, (_, index) => view.getInt16(4 * index + 2, true));
};

const heardOf = (packets: readonly Packet[], answeredAt: number): Heard => {
  const samples = new Int16Array(packets.length * frame);
  for (const [number, packet] of packets.entries()) samples.set(packet.samples, number * frame);
  return { samples, arrivals: packets.map(({ at }) => Math.round((at - answeredAt) * 8)) };
};

/**
 * Compares what was played, in a recording, with what a telephone has heard.
 *
 * @param answeredAt - when the telephone was answered, by the clock of its packets
 */
export const compareWindows = (
  file: Uint8Array,
  packets: readonly Packet[],
  answeredAt: number,
): string => summaryOf(findPackets(playedIn(file), heardOf(packets, answeredAt)));
