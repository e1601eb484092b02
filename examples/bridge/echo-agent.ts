import type { Connect } from "./agent.ts";

/** Above this mean of the samples' size somebody speaks. */
const loud = 400;

/** Milliseconds of silence that end a phrase: what comes after them is a new one. */
const pause = 200;

/** Milliseconds after which a phrase is echoed although it goes on. */
const longest = 2000;

const isLoud = (bytes: Uint8Array<ArrayBuffer>): boolean => {
  const samples = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += Math.abs(samples.getInt16(at, true));
  return sum > (loud * bytes.length) / 2;
};

const joined = (pieces: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
};

/**
 * Says every phrase back, and is silent at once when the person begins another one meanwhile
 * (barge-in). Its clock is the audio that comes: what it says is played in real time, while what it
 * sends is gone in an instant.
 */
export const echoAgent: Connect = ({ sample_rate, say, interrupt }) => {
  const duration = (bytes: Uint8Array): number => (bytes.length / 2 / sample_rate) * 1000;
  let phrase: Uint8Array<ArrayBuffer>[] = [];
  let spoken = 0;
  let silence = pause;
  let count = 0;
  let busyUntil = 0;

  return {
    hear: ({ bytes, time }) => {
      const now = time + duration(bytes);
      if (isLoud(bytes)) {
        const isOnset = silence >= pause;
        if (isOnset && time < busyUntil) {
          interrupt(count);
          busyUntil = 0;
        }
        phrase.push(bytes);
        spoken += duration(bytes);
        silence = 0;
      } else {
        silence += duration(bytes);
      }
      const isOver = spoken > 0 && (silence >= pause || spoken >= longest);
      if (!isOver) return;
      say(joined(phrase), ++count);
      busyUntil = Math.max(now, busyUntil) + spoken;
      phrase = [];
      spoken = 0;
    },
  };
};
