import { Playout, type Quota, quotaRate } from "./playout.ts";
import { clippedAll } from "./sound.ts";
import { addTo, type Stretch, sampleAt, Track } from "./track.ts";

/** Samples a second of a recording that is one file for everybody. */
export const telephoneRate = 8_000;

/** The speech that is kept of one call: ten minutes. The rest is silence. */
const most = 10 * 60 * quotaRate;

/** Whose voice: the person's who is called, or all that is said to them. */
export type Voice = "callee" | "application";

/** An application threw away what waited to be said. */
export interface Cut {
  /** Which message of the application did it. */
  readonly type: "clear" | "interrupt";
  /** The piece that an `interrupt` names. */
  readonly chunk_id?: string | number;
  /** Milliseconds since the answer. */
  readonly at_ms: number;
  /** How many samples were thrown away, at the stream's rate. */
  readonly samples: number;
}

/** How many cuts are kept. */
const mostCuts = 1_000;

/** What is to be mixed: of a call, or of its recording. */
export interface Mixing {
  readonly sampleRate: number;
  /** Milliseconds since the answer, up to which anything has been heard. */
  readonly now: number;
  /** What isn't to be recorded too. */
  readonly all: boolean;
}

/**
 * What can be heard in a call: the callee's voice, and all that is said to them. It is mixed when
 * somebody listens, so that a call which nobody listens to costs nothing.
 */
export class Recording {
  readonly callee: Track = new Track();
  /** What the callee hears beside the streams: media, and whom they were put through to. */
  readonly media: Track = new Track();
  /** What applications say to them, a playout for each stream. */
  readonly playouts: Playout[] = [];
  readonly cuts: Cut[] = [];
  readonly #quota: Quota = { left: most };
  /** When nothing is recorded, in milliseconds since the answer. */
  readonly #gaps: { readonly from: number; to: number }[] = [];

  /** The highest rate at which anything came. */
  get sampleRate(): number {
    return Math.max(telephoneRate, ...this.playouts.map(({ sampleRate }) => sampleRate));
  }

  /** Begins to play what an application says. */
  open(sampleRate: number): Playout {
    const playout = new Playout(sampleRate, this.#quota);
    this.playouts.push(playout);
    return playout;
  }

  /** From now on nothing is recorded, until it is told to go on. */
  pause(now: number): void {
    this.#gaps.push({ from: now, to: Number.POSITIVE_INFINITY });
  }

  resume(now: number): void {
    const gap = this.#gaps.at(-1);
    if (gap) gap.to = Math.min(gap.to, now);
  }

  cut(cut: Cut): void {
    if (this.cuts.length < mostCuts) this.cuts.push(cut);
  }

  /** A stretch of one voice. */
  voice(name: Voice, first: number, count: number, mixing: Mixing): Int16Array {
    return clippedAll(this.#mix([name], first, count, mixing));
  }

  /** Another text once one of the voices is another up to the same moment. */
  get stamp(): string {
    return [this.callee.stamp, this.media.stamp, this.playouts.length].join();
  }

  /** A stretch of both in one. */
  mono(first: number, count: number, mixing: Mixing): Int16Array {
    return clippedAll(this.#mix(["callee", "application"], first, count, mixing));
  }

  /** A stretch of both side by side, a sample of each in turn: the callee, the application. */
  stereo(first: number, count: number, mixing: Mixing): Int16Array {
    const left = this.voice("callee", first, count, mixing);
    const right = this.voice("application", first, count, mixing);
    const both = new Int16Array(2 * count);
    for (let at = 0; at < count; at++) {
      both[2 * at] = left[at] ?? 0;
      both[2 * at + 1] = right[at] ?? 0;
    }
    return both;
  }

  #mix(names: readonly Voice[], first: number, count: number, mixing: Mixing): Float64Array {
    const { sampleRate, now, all } = mixing;
    const stretch: Stretch = { first, sampleRate, samples: new Float64Array(count) };
    for (const name of names) {
      if (name === "callee") this.callee.mixInto(stretch);
      else {
        this.media.mixInto(stretch);
        for (const playout of this.playouts) {
          const rate = playout.sampleRate;
          // One more on either side, as samples of two rates are set to the nearest.
          const start = Math.floor((first * rate) / sampleRate) - 1;
          const end = Math.ceil(((first + count) * rate) / sampleRate) + 1;
          for (const { from, samples } of playout.heardIn(start, end, sampleAt(now, rate))) {
            addTo(stretch, { from, samples, sampleRate: rate });
          }
        }
      }
    }
    for (const { from, to } of all ? [] : this.#gaps) {
      const [start, end] = [from, to].map((ms) => Math.max(0, sampleAt(ms, sampleRate) - first));
      stretch.samples.fill(0, start, end);
    }
    return stretch.samples;
  }
}
