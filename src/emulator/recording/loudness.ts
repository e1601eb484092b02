import { isLoud, type Recording } from "./recording.ts";

const sampleRate = 8_000;

/** Milliseconds of audio that are judged at once, and mixed at once. */
const judged = 20;
const mixed = 200;

/**
 * The loud parts of a stretch of the callee's audio, each of 20 ms, by their beginning.
 *
 * @param isBackward - the last ones first
 */
function* loudIn(
  recording: Recording,
  [from, to]: readonly [from: number, to: number],
  isBackward: boolean,
): Generator<number> {
  const blocks = Math.ceil((to - from) / mixed);
  for (let count = 0; count < blocks; count++) {
    const start = from + (isBackward ? blocks - 1 - count : count) * mixed;
    const end = Math.min(to, start + mixed);
    // An hour of silence is not mixed.
    if (!recording.callee.hasAny(start, end)) continue;
    const mixing = { sampleRate, now: to, all: true };
    const perMs = sampleRate / 1_000;
    const samples = recording.side("callee", start * perMs, (end - start) * perMs, mixing);
    const parts = Math.ceil((end - start) / judged);
    for (let at = 0; at < parts; at++) {
      const part = isBackward ? parts - 1 - at : at;
      const first = part * judged * perMs;
      if (isLoud(samples.subarray(first, first + judged * perMs))) yield start + part * judged;
    }
  }
}

/** When the callee was audible first in a stretch, in milliseconds since the answer; `undefined` where it is silent. */
export const firstLoud = (recording: Recording, from: number, to: number): number | undefined => {
  const { value } = loudIn(recording, [from, to], false).next();
  return value ?? undefined;
};

/** When the callee was audible last in a stretch, in milliseconds since the answer; `undefined` where it is silent. */
export const lastLoud = (recording: Recording, from: number, to: number): number | undefined => {
  const { value } = loudIn(recording, [Math.floor(from), Math.floor(to)], true).next();
  return value === undefined ? undefined : Math.min(to, value + judged);
};
