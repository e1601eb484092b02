import { type Recording, telephoneRate } from "./recording/recording.ts";
import { sampleAt } from "./recording/track.ts";

/** The frequencies of a row and of a column of keys, in hertz. */
const rows = [697, 770, 852, 941];
const columns = [1209, 1336, 1477, 1633];
const keys = "123A456B789C*0#D";

/** How often the line is looked at, and how much of it at once, in ms: a window must hold a whole tone of 40 ms twice. */
const hopMs = 5;
const windowMs = 20;

/** The shortest tone, and the shortest pause between two: Q.24 has 40 ms for both, and tolerates gaps of 10 ms. */
const minTone = 32;
const minPause = 25;

/** How far a frequency may be off: Q.24 has 1.8 % that must be taken, and 3 % that must not. */
const maxDeviation = 0.024;

/** The weakest tone, as an amplitude of 16 bits: -27 dBm0, where Q.24 has -25. */
const minAmplitude = 1000;

/** How much louder the column and the row may be than each other: 4 and 8 dB. */
const maxColumn = 10 ** (4.5 / 20);
const maxRow = 10 ** (8.5 / 20);

/** What both tones have of the energy. */
const minPurity = 0.7;

/** A frequency in a window: its amplitude, and its phase. */
interface Component {
  readonly amplitude: number;
  readonly phase: number;
}

/** Key presses, as a telephone exchange hears them. */
export interface KeyDetector {
  /** Takes the next samples, and returns the keys that were pressed and released in them. */
  readonly push: (samples: Int16Array) => readonly string[];
  /** How long the latest of them sounded, in ms: up to half a window less than its tone. */
  readonly latest: () => number;
}

/** Finds keys by their two tones, within the limits of ITU-T Q.24. */
export const createKeyDetector = (sampleRate: number): KeyDetector => {
  const hop = Math.round((sampleRate * hopMs) / 1000);
  const size = Math.round((sampleRate * windowMs) / 1000);
  // A Hann window: the two groups don't disturb each other.
  const weights = Float64Array.from(
    { length: size },
    (_, at) => 1 - Math.cos((2 * Math.PI * (at + 0.5)) / size),
  );
  /** The weighted sines and cosines of each frequency. */
  const waves = new Map(
    [...rows, ...columns].map((hertz) => {
      const angle = (2 * Math.PI * hertz) / sampleRate;
      const cosine = weights.map((weight, at) => weight * Math.cos(angle * at));
      return [hertz, { cosine, sine: weights.map((weight, at) => weight * Math.sin(angle * at)) }];
    }),
  );
  const window = new Float64Array(size);
  let filled = size - hop;
  /** The phases of the window before, by frequency. */
  let phases: ReadonlyMap<number, number> = new Map();
  /** The key that sounds: for how many hops, how loud at most, and for how many hops it has been quiet. */
  let key = "";
  let [tone, loudest, quiet] = [0, 0, 0];
  let latest = 0;

  const componentOf = (hertz: number): Component => {
    const { cosine, sine } = waves.get(hertz) ?? {};
    let [real, imaginary] = [0, 0];
    for (let at = 0; at < size; at++) {
      const value = window[at] ?? 0;
      real += value * (cosine?.[at] ?? 0);
      imaginary -= value * (sine?.[at] ?? 0);
    }
    return {
      amplitude: (2 * Math.hypot(real, imaginary)) / size,
      phase: Math.atan2(imaginary, real),
    };
  };

  /** How far a tone is off its frequency, by its phase in two windows. */
  const deviationOf = (hertz: number, phase: number): number => {
    const turn = 2 * Math.PI;
    const advance = phase - (phases.get(hertz) ?? phase) - (turn * hertz * hop) / sampleRate;
    const rest = advance - turn * Math.round(advance / turn);
    return Math.abs(rest * sampleRate) / (turn * hop * hertz);
  };

  /** The key in the window and its amplitude; nothing where there is none. */
  const look = (): { readonly key: string; readonly amplitude: number } | undefined => {
    const found = new Map([...rows, ...columns].map((hertz) => [hertz, componentOf(hertz)]));
    const before = phases;
    const amplitude = (hertz: number) => found.get(hertz)?.amplitude ?? 0;
    const loudestOf = (group: readonly number[]) =>
      group.reduce((best, each) => (amplitude(each) > amplitude(best) ? each : best));
    const [row, column] = [loudestOf(rows), loudestOf(columns)];
    const energy = window.reduce((sum, value, at) => sum + (value * (weights[at] ?? 0)) ** 2, 0);
    const [low, high] = [amplitude(row), amplitude(column)];
    // Of a sine of amplitude 1, a Hann window with a mean of 1 leaves 3/4 of its length.
    const purity = ((low ** 2 + high ** 2) * 0.75 * size) / energy;
    const isSteady = [row, column].every((hertz) => {
      const phase = found.get(hertz)?.phase;
      return before.has(hertz) && phase !== undefined && deviationOf(hertz, phase) <= maxDeviation;
    });
    phases = new Map([...found].map(([hertz, { phase }]) => [hertz, phase]));
    const isKey =
      Math.min(low, high) >= minAmplitude &&
      high <= low * maxColumn &&
      low <= high * maxRow &&
      purity >= minPurity &&
      isSteady;
    if (!isKey) return;
    const name = keys.charAt(4 * rows.indexOf(row) + columns.indexOf(column));
    return { key: name, amplitude: low + high };
  };

  /** One hop has passed; returns the key that it has ended. */
  const step = (): string | undefined => {
    const now = look();
    // The window is as long as half a tone: what is louder than half of the tone is its length.
    const isLoud = now !== undefined && now.amplitude * 2 >= loudest;
    if (now && now.key === key && isLoud) {
      // A short interruption belongs to the tone.
      tone += quiet + 1;
      quiet = 0;
      loudest = Math.max(loudest, now.amplitude);
      return;
    }
    const isOver = key !== "" && (now?.key ?? key) !== key;
    if (key && !isOver && ++quiet * hopMs < minPause) return;
    const ended = key && tone * hopMs >= minTone ? key : undefined;
    if (ended) latest = tone * hopMs;
    key = isLoud || isOver ? (now?.key ?? "") : "";
    [tone, loudest, quiet] = key && now ? [1, now.amplitude, 0] : [0, 0, 0];
    return ended;
  };

  return {
    latest: () => latest,
    push: (samples) => {
      const pressed: string[] = [];
      for (const sample of samples) {
        window[filled++] = sample;
        if (filled < size) continue;
        const ended = step();
        if (ended) pressed.push(ended);
        window.copyWithin(0, hop);
        filled = size - hop;
      }
      return pressed;
    },
  };
};

/** How much of the line is listened to at once, in ms: a frame, which is lost as a whole. */
const frameMs = 20;

/** The keys that an application presses for the callee to hear: as tones in its audio, and by the carrier's API. */
export class PressedKeys {
  readonly #recording: Recording;
  readonly #isLost: ((frame: number) => boolean) | undefined;
  readonly #detector = createKeyDetector(telephoneRate);
  /** Up to when the audio was listened to, in milliseconds since the answer. */
  #detectedUntil = 0;
  #keys = "";
  /** How many of them were waited for before. */
  #taken = 0;

  /** @param isLost - whether the line loses a frame of 20 ms, by its index since the answer */
  constructor(recording: Recording, isLost?: (frame: number) => boolean) {
    this.#recording = recording;
    this.#isLost = isLost;
  }

  /** All of them, up to where the audio was listened to. */
  get keys(): string {
    return this.#keys;
  }

  /** Adds keys of the carrier's API. */
  add(keys: string): void {
    this.#keys += keys;
  }

  /**
   * Listens to the audio, and returns when the keys have come one after the other; those before them are skipped, and
   * each counts once.
   *
   * @param now - in milliseconds since the answer
   */
  find(keys: string, now: number): number | undefined {
    for (;;) {
      const at = this.#keys.indexOf(keys, this.#taken);
      if (at >= 0) {
        this.#taken = at + keys.length;
        return this.#detectedUntil;
      }
      if (this.#detectedUntil + frameMs > now) return;
      this.#listen();
    }
  }

  #listen(): void {
    const from = this.#detectedUntil;
    this.#detectedUntil += frameMs;
    const count = sampleAt(frameMs, telephoneRate);
    const isLost = this.#isLost?.(from / frameMs);
    const mixing = { sampleRate: telephoneRate, now: this.#detectedUntil, all: true };
    const samples = isLost
      ? new Int16Array(count)
      : this.#recording.side("application", sampleAt(from, telephoneRate), count, mixing);
    for (const key of this.#detector.push(samples)) this.#keys += key;
  }
}
