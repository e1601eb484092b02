import { Resampler } from "../../lib/resample.ts";

/** A sine of moderate loudness, as 16-bit samples. */
export const tone = (
  hertz: number,
  sampleRate: number,
  first: number,
  count: number,
): Int16Array => {
  const samples = new Int16Array(count); // `from` would take ten times as long.
  for (let at = 0; at < count; at++) {
    // The phase within one cycle: the sine of a large number takes ten times as long.
    const phase = (hertz * (first + at)) % sampleRate;
    samples[at] = 6_000 * Math.sin((2 * Math.PI * phase) / sampleRate);
  }
  return samples;
};

/**
 * The value at a position between two samples, by linear interpolation.
 *
 * @param position - in samples; before the first and after the last the value stays the same
 */
const valueAt = (samples: Int16Array, position: number): number => {
  const before = Math.floor(position);
  const first = samples[Math.max(0, before)] ?? 0;
  const next = samples[Math.min(samples.length - 1, before + 1)] ?? 0;
  return first + (next - first) * (position - before);
};

/** All samples of a sound at another rate: it lasts as long, and begins and ends where it did. */
export const resample = (samples: Int16Array, from: number, to: number): Int16Array => {
  if (from === to) return samples;
  const resampler = new Resampler(from, to);
  const { delay } = resampler;
  const [body, rest] = [resampler.push(samples), resampler.flush()];
  const all = new Int16Array(body.length + rest.length);
  all.set(body);
  all.set(rest, body.length);
  return all.slice(delay, delay + Math.floor((samples.length * to) / from));
};

/** The values, limited to what 16 bits can hold. */
export const clip = (values: Float64Array): Int16Array => {
  const samples = new Int16Array(values.length);
  for (let at = 0; at < values.length; at++) {
    samples[at] = Math.max(-32_768, Math.min(32_767, values[at] ?? 0));
  }
  return samples;
};

/** The sample at a time, in milliseconds since the answer. */
export const sampleAt = (milliseconds: number, sampleRate: number): number =>
  Math.round((milliseconds * sampleRate) / 1000);

interface Span<T> {
  readonly from: number;
  readonly to: number;
  readonly value: T;
}

/** The first index that satisfies a condition which holds from some index on. */
const firstIndex = (length: number, isTrue: (at: number) => boolean): number => {
  let low = 0;
  for (let high = length; low < high; ) {
    const middle = (low + high) >> 1;
    if (isTrue(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** Spans sorted by their beginning: those in a range are found without reading the others. */
export class SpanList<T> {
  readonly #spans: Span<T>[] = [];
  /** For each index, the latest end of any span up to it. */
  readonly #reach: number[] = [];

  get size(): number {
    return this.#spans.length;
  }

  add(from: number, to: number, value: T): void {
    const spans = this.#spans;
    // Nearly always at the end.
    const index = firstIndex(spans.length, (at) => (spans[at]?.from ?? from) > from);
    spans.splice(index, 0, { from, to, value });
    for (let at = index; at < spans.length; at++) {
      const { to: end = 0 } = spans[at] ?? {};
      this.#reach[at] = Math.max(this.#reach[at - 1] ?? end, end);
    }
  }

  /** What overlaps a range, in order. */
  between(from: number, to: number): readonly T[] {
    const found: T[] = [];
    const first = firstIndex(this.#spans.length, (at) => (this.#reach[at] ?? to) > from);
    for (let at = first; at < this.#spans.length; at++) {
      const span = this.#spans[at];
      if (!span || span.from >= to) break;
      if (span.to > from) found.push(span.value);
    }
    return found;
  }
}

/** Samples that begin at a moment. */
export interface Piece {
  /** When, in samples since the answer. */
  readonly from: number;
  readonly samples: Int16Array;
  /** Samples per second. */
  readonly sampleRate: number;
}

/** A tone whose end may still change. */
interface Tone {
  readonly hertz: number;
  /** Milliseconds since the answer. */
  readonly from: number;
  to: number;
  /** Whether it is of a key. */
  readonly isKey?: true;
}

/** A range of samples that is being mixed. */
export interface MixBuffer {
  /** The first sample, since the answer. */
  readonly first: number;
  readonly sampleRate: number;
  readonly samples: Float64Array;
}

/** Adds the part of a piece that overlaps the buffer, whatever their sample rates. */
export const mixPiece = (buffer: MixBuffer, piece: Piece): void => {
  const step = piece.sampleRate / buffer.sampleRate;
  const from = Math.round(piece.from / step) - buffer.first;
  const end = Math.min(buffer.samples.length, from + Math.floor(piece.samples.length / step));
  for (let at = Math.max(0, from); at < end; at++) {
    const value =
      step === 1
        ? (piece.samples[at - from] ?? 0)
        : valueAt(piece.samples, (at - from + 0.5) * step - 0.5);
    buffer.samples[at] = (buffer.samples[at] ?? 0) + value;
  }
};

const mixTone = (buffer: MixBuffer, { hertz, from, to }: Tone): void => {
  const { first, sampleRate, samples } = buffer;
  const start = Math.max(first, sampleAt(from, sampleRate));
  const end = Math.min(first + samples.length, sampleAt(to, sampleRate));
  if (start >= end) return;
  mixPiece(buffer, {
    from: start,
    samples: tone(hertz, sampleRate, start, end - start),
    sampleRate,
  });
};

/** The audio of one side of a call: samples, and tones that stand for people and media. */
export class Track {
  /** Those whose end may still change: at most one for each action of the flow. */
  readonly #openTones: Tone[] = [];
  /** What no longer changes, by milliseconds since the answer. */
  readonly #fixed: SpanList<Piece | Tone> = new SpanList();

  /** How many tones of keys were ended. */
  #ended = 0;

  /** A text that changes whenever the audio does. */
  get revision(): string {
    return `${this.#fixed.size} ${this.#ended} ${this.#openTones.map(({ to }) => to)}`;
  }

  /** Adds a tone between two times in milliseconds since the answer; its end may be moved. */
  openTone(hertz: number, from: number, to: number): Tone {
    const tone = { hertz, from, to };
    this.#openTones.push(tone);
    return tone;
  }

  /** Says that the end of a tone no longer changes. */
  closeTone(tone: Tone): void {
    const at = this.#openTones.indexOf(tone);
    if (at < 0) return;
    this.#openTones.splice(at, 1);
    if (tone.to > tone.from) this.#fixed.add(tone.from, tone.to, tone);
  }

  /** Adds a tone between two times in milliseconds since the answer. */
  addTone(hertz: number, from: number, to: number): void {
    this.#fixed.add(from, to, { hertz, from, to });
  }

  /** Adds a tone of a key, which `endKey` may shorten. */
  addKeyTone(hertz: number, from: number, to: number): void {
    this.#fixed.add(from, to, { hertz, from, to, isKey: true });
  }

  /** Ends the key that sounds at a time, in milliseconds since the answer. */
  endKey(at: number): void {
    for (const each of this.#fixed.between(at, at)) {
      if (!("isKey" in each)) continue;
      each.to = at;
      this.#ended++;
    }
  }

  add(piece: Piece): void {
    const ms = (samples: number) => (samples * 1000) / piece.sampleRate;
    this.#fixed.add(ms(piece.from), ms(piece.from + piece.samples.length), piece);
  }

  /** Whether there is anything between two times, in milliseconds since the answer. */
  hasAny(from: number, to: number): boolean {
    const isOpen = this.#openTones.some((tone) => tone.from < to && tone.to > from);
    return isOpen || this.#fixed.between(from, to).length > 0;
  }

  mixInto(buffer: MixBuffer): void {
    const { first, sampleRate, samples } = buffer;
    const ms = (count: number) => (count * 1000) / sampleRate;
    for (const tone of this.#openTones) mixTone(buffer, tone);
    // One millisecond more on either side, as positions are rounded between two sample rates.
    for (const each of this.#fixed.between(ms(first) - 1, ms(first + samples.length) + 1)) {
      if ("hertz" in each) mixTone(buffer, each);
      else mixPiece(buffer, each);
    }
  }
}
