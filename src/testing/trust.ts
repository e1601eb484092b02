import type { CallFigures, Trust } from "./figures.ts";
import type { Report } from "./report.ts";
import type { RoundTrip, Turn } from "./turns.ts";

/** Frames that are later on average make figures that can't be trusted, in ms. */
const mostOnAverage = 5;

/** A frame that is later has moved what is measured in real time by more than its error, in ms. */
const mostOfOne = 30;

/** How long after an utterance a turn is measured where the agent does nothing, in ms. */
const answerWindow = 10_000;
const noiseWindow = 2_000;

/** A frame that was late. */
interface LateFrame {
  /** When it was due, and when it was sent, in milliseconds since the answer. */
  readonly due: number;
  readonly sent: number;
}

/** How late the frames of the caller's audio are. */
export class Lateness {
  readonly #late: LateFrame[] = [];
  #sum = 0;
  #count = 0;
  #latest = 0;

  /** @param sent - when a frame was sent, in milliseconds since the answer */
  add(sent: number, late: number): void {
    this.#sum += late;
    this.#count++;
    this.#latest = Math.max(this.#latest, late);
    if (late > mostOfOne) this.#late.push({ due: sent - late, sent });
  }

  /** In milliseconds. */
  get average(): number {
    return this.#count > 0 ? this.#sum / this.#count : 0;
  }

  /** In milliseconds. */
  get latest(): number {
    return this.#latest;
  }

  /** By how much a frame between two times was late at most; nothing where none was. */
  between(from: number, to: number): number | undefined {
    const found = this.#late.filter(({ due, sent }) => due < to && sent > from);
    if (found.length === 0) return;
    return Math.max(...found.map(({ due, sent }) => sent - due));
  }
}

/** When the measuring of a turn ends: with what the agent did, or where it would have counted no more. */
const endOf = ({ from, to, expect, response, stop }: Turn, { most }: RoundTrip): number => {
  if (expect === "ignore") return to + noiseWindow + most;
  const responded = to + (response ?? answerWindow);
  return Math.max(to, responded, stop === undefined ? to : from + stop);
};

/** The turns, where those are marked that were measured while frames were late. */
export const marked = (
  turns: readonly Turn[],
  lateness: Lateness,
  roundTrip: RoundTrip,
): readonly Turn[] =>
  turns.map((turn) => {
    const late = lateness.between(turn.from, endOf(turn, roundTrip));
    return late === undefined ? turn : { ...turn, late };
  });

/** The figures of a call that its trust is about. */
export type Measured = Omit<CallFigures, "trust" | "audio">;

/** How far figures can be trusted whose turns are marked. */
export const trustOf = (
  { turns, firstAudio, end }: Measured,
  lateness: Lateness,
  { clock, detector }: Pick<Trust, "clock" | "detector">,
): Trust => {
  const late = (["firstAudio", "turns", "response", "stop", "overlap", "deadAir"] as const).filter(
    (figure) => {
      if (figure === "firstAudio") {
        return lateness.between(0, firstAudio.max ?? end.ms) !== undefined;
      }
      if (figure === "overlap" || figure === "deadAir") {
        return lateness.between(0, end.ms) !== undefined;
      }
      return turns.some(
        (turn) => turn.late !== undefined && (figure === "turns" || turn[figure] !== undefined),
      );
    },
  );
  return {
    clock,
    lateness: lateness.average,
    latest: lateness.latest,
    late,
    detector,
    runs: 1,
    differs: [],
    ok: lateness.average <= mostOnAverage && late.length === 0,
  };
};

/** The trust of a call whose inputs were run again. */
export const comparedTrust = (trust: Trust, first: Report, second: Report): Trust => {
  const names = [
    ...(["inputs", "turns", "firstAudio", "response", "stop", "overlap", "deadAir"] as const),
    ...(["tools", "transcript", "faults", "end"] as const),
  ];
  const differs = names.filter(
    (name) => JSON.stringify(first[name]) !== JSON.stringify(second[name]),
  );
  return { ...trust, runs: 2, differs, ok: trust.ok && differs.length === 0 };
};
