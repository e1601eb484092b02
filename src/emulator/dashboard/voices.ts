import type { Emulator } from "../emulator.ts";

/** Both voices of a call on one time line, as the page draws them. */
interface Voices {
  /** From the answer to now, or to the end, in milliseconds. */
  readonly ms: number;
  /** Milliseconds that one of the peaks stands for. */
  readonly every: number;
  /** How loud each was, from 0 to 1. */
  readonly callee: readonly number[];
  readonly application: readonly number[];
  /** When the application threw away what it was saying, in milliseconds since the answer. */
  readonly cuts: readonly number[];
}

/** About as many as a page has room for. */
const most = 600;

/** What was heard in a call so far; `undefined` for one that is not known. */
export const voicesOf = (emulator: Emulator, id: string): Voices | undefined => {
  const audio = emulator.audio(id);
  if (!audio) return;
  const { ms, cuts } = audio;
  const every = 20 * Math.max(1, Math.ceil(ms / most / 20));
  const peaks = (voice: "callee" | "application") =>
    audio.peaks(voice, every).map((peak) => Math.round(peak * 1000) / 1000);
  return {
    ms,
    every,
    callee: peaks("callee"),
    application: peaks("application"),
    cuts: cuts.map(({ at_ms }) => at_ms),
  };
};
