import type { Playout } from "../recording/playout.ts";
import type { Cut, Recording } from "../recording/recording.ts";
import { sampleAt } from "../recording/track.ts";
import { obey } from "./obey.ts";

/** How many different things that could not be obeyed are told. */
const explained = 5;

/** Characters that are told of a type that is unknown. */
const longestType = 40;

/** How many cuts of a stream are told one by one. */
const mostTold = 100;

/** What an application has sent on a stream. */
interface Counts {
  readonly received: number;
  readonly malformed: readonly string[];
  readonly malformed_count: number;
  readonly ignored: readonly string[];
}

/** Heeds what an application sends on one stream, and keeps count. */
export class Heeding {
  readonly #recording: Recording;
  readonly #playout: Playout;
  readonly #onCut: (cut: Cut) => void;
  readonly #malformed: string[] = [];
  readonly #ignored = new Set<string>();
  #received = 0;
  #malformedCount = 0;
  #told = 0;

  /** @param onCut - hears of the first 100 times that speech was thrown away */
  constructor(recording: Recording, sampleRate: number, onCut: (cut: Cut) => void) {
    this.#recording = recording;
    this.#playout = recording.open(sampleRate);
    this.#onCut = onCut;
  }

  get counts(): Counts {
    return {
      received: this.#received,
      malformed: [...this.#malformed],
      malformed_count: this.#malformedCount,
      ignored: [...this.#ignored],
    };
  }

  /**
   * Does what a message says.
   *
   * @param now - milliseconds since the answer
   */
  heed(data: unknown, now: number): void {
    this.#received++;
    try {
      const obeyed = obey(this.#playout, data, sampleAt(now, this.#playout.sampleRate));
      if (obeyed.did === "nothing") {
        if (this.#ignored.size < explained) this.#ignored.add(obeyed.type.slice(0, longestType));
      } else if (obeyed.did !== "said") {
        const { did: type, ...what } = obeyed;
        this.#cut({ type, at_ms: now, ...what });
      }
    } catch (error) {
      this.#malformedCount++;
      if (this.#malformed.length < explained) this.#malformed.push(String(Object(error).message));
    }
  }

  /** The stream has ended: what still waits is never heard. */
  end(now: number): void {
    this.#playout.clear(sampleAt(now, this.#playout.sampleRate));
  }

  #cut(cut: Cut): void {
    this.#recording.cut(cut);
    if (++this.#told <= mostTold) this.#onCut(cut);
  }
}
