import { type Contender, created, delta, speechStarted, tick } from "./contender.ts";

/** The middle of some times, and what one in a hundred is above, in µs. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
}

const timesOf = (times: readonly number[]): Times => {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number) => 1000 * (sorted[Math.floor(sorted.length * part)] ?? Number.NaN);
  return { p50: at(0.5), p99: at(0.99) };
};

/** What frames and interruptions take. */
export interface FrameTimes {
  /** 20 ms of the callee to the agent, and 20 ms of the agent to the callee. */
  readonly frame: Times;
  /** From the agent's word that the callee speaks to the `clear` that is written. */
  readonly clear: Times;
  /** Interruptions whose `clear` was written later than in the turn in which they were read. */
  readonly later: number;
}

/** Frames in an answer, after which the callee interrupts. */
const answer = 50;

/** So many frames each way, one after the other; the first half warms up. */
export const frames = async (
  { connect, said, isClear }: Contender,
  sample_rate: 8000 | 16000,
  count: number,
): Promise<FrameTimes> => {
  const { line, mind, close } = await connect(sample_rate);
  const spoken = said(sample_rate);
  const times: number[] = [];
  const clears: number[] = [];
  let cleared = 0;
  let later = 0;
  line.onSend = (message) => {
    if (isClear(message)) cleared = performance.now();
  };
  for (let at = 0; at < count; at++) {
    const which = Math.floor(at / answer);
    if (at % answer === 0) mind.emit(created(which));
    const message = delta(which, 20, sample_rate);
    const began = performance.now();
    line.emit(spoken);
    mind.emit(message);
    times.push(performance.now() - began);
    if (at % answer < answer - 1) continue;
    cleared = 0;
    const read = performance.now();
    mind.emit(speechStarted);
    if (cleared === 0) later++;
    clears.push(cleared - read);
    if (at % 500 === 499) await tick();
  }
  await close();
  const half = <T>(all: readonly T[]) => all.slice(all.length / 2);
  return { frame: timesOf(half(times)), clear: timesOf(half(clears)), later };
};
