import { Row } from "./row.ts";
import { tone, valueAt } from "./sound.ts";

/** Samples that are heard from a moment on. */
export interface Piece {
  /** When, in samples since the answer. */
  readonly from: number;
  readonly samples: Int16Array;
  /** Samples a second. */
  readonly sampleRate: number;
}

/** A tone that can be heard; it may still go on. */
interface Tone {
  readonly hertz: number;
  /** Milliseconds since the answer. */
  readonly from: number;
  to: number;
}

/** A stretch of time that is being mixed. */
export interface Stretch {
  /** The first sample, since the answer. */
  readonly first: number;
  readonly sampleRate: number;
  readonly samples: Float64Array;
}

/** The sample that is heard at a time, in milliseconds since the answer. */
export const sampleAt = (milliseconds: number, sampleRate: number): number =>
  Math.round((milliseconds * sampleRate) / 1000);

/** Adds a piece to a stretch, as far as it lies in it, at whatever rate either is. */
export const addTo = (stretch: Stretch, piece: Piece): void => {
  const step = piece.sampleRate / stretch.sampleRate;
  const from = Math.round(piece.from / step) - stretch.first;
  const end = Math.min(stretch.samples.length, from + Math.floor(piece.samples.length / step));
  for (let at = Math.max(0, from); at < end; at++) {
    const value =
      step === 1
        ? (piece.samples[at - from] ?? 0)
        : valueAt(piece.samples, (at - from + 0.5) * step - 0.5);
    stretch.samples[at] = (stretch.samples[at] ?? 0) + value;
  }
};

/** Adds a tone to a stretch, as far as it lies in it. */
const addToneTo = (stretch: Stretch, { hertz, from, to }: Tone): void => {
  const { first, sampleRate, samples } = stretch;
  const start = Math.max(first, sampleAt(from, sampleRate));
  const end = Math.min(first + samples.length, sampleAt(to, sampleRate));
  if (start >= end) return;
  addTo(stretch, {
    from: start,
    samples: tone(hertz, sampleRate, start, end - start),
    sampleRate,
  });
};

/** What one side of a call sounds like: tones that stand for people and media, and samples. */
export class Track {
  /** Those that may still change: one for an action of the flow. */
  readonly #tones: Tone[] = [];
  /** What doesn't change any more, by milliseconds since the answer. */
  readonly #said: Row<Piece | Tone> = new Row();

  /** Another text once anything else is heard. */
  get stamp(): string {
    return `${this.#said.size} ${this.#tones.map(({ to }) => to)}`;
  }

  /** Adds a tone, from and to a time in milliseconds since the answer; its end may be moved. */
  tone(hertz: number, from: number, to: number): Tone {
    const tone = { hertz, from, to };
    this.#tones.push(tone);
    return tone;
  }

  /** Adds a tone whose end is known. */
  hum(hertz: number, from: number, to: number): void {
    this.#said.add(from, to, { hertz, from, to });
  }

  add(piece: Piece): void {
    const ms = (samples: number) => (samples * 1000) / piece.sampleRate;
    this.#said.add(ms(piece.from), ms(piece.from + piece.samples.length), piece);
  }

  /** Adds what is heard in a stretch. */
  mixInto(stretch: Stretch): void {
    const { first, sampleRate, samples } = stretch;
    const ms = (count: number) => (count * 1000) / sampleRate;
    for (const tone of this.#tones) addToneTo(stretch, tone);
    // A millisecond more on either side, as samples of two rates are set to the nearest.
    for (const said of this.#said.between(ms(first) - 1, ms(first + samples.length) + 1)) {
      if ("hertz" in said) addToneTo(stretch, said);
      else addTo(stretch, said);
    }
  }
}
