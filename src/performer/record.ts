import type { RecordRules } from "./instructions.ts";
import type { Line } from "./line.ts";

/**
 * Waits for what ends a recording: a key, silence, its longest duration, or the signal.
 *
 * @returns the key
 */
export const recordUntil = async (
  line: Line,
  { keys, endSilence, countsFirstSilence, maxDuration }: RecordRules,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const from = line.talkTime;
  const end = from + maxDuration;
  let key: string | undefined;
  const stopListening = line.listen({
    onKey: (pressed) => {
      if (!keys.includes(pressed)) return;
      key ??= pressed;
      line.wake();
    },
  });
  const continues = () => key === undefined && !signal.aborted;
  try {
    let lastSound = countsFirstSilence ? from : undefined;
    for (let now = from; now < end && continues(); now = line.talkTime) {
      // Silence that isn't over yet can't end it, so the audio is judged once it could be.
      const until = endSilence > 0 ? (lastSound ?? now) + endSilence : end;
      await line.waitUntil(Math.min(until, end), continues);
      const loud = line.lastAudible(now, line.talkTime) ?? lastSound;
      if (lastSound !== undefined && loud === lastSound && line.talkTime >= until) break;
      lastSound = loud;
    }
  } finally {
    stopListening();
  }
  return key;
};
