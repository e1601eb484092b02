import { decodeMulaw } from "../../lib/mulaw.ts";
import type { AudioFormat } from "./resample.ts";

/** The mean size of samples above which somebody speaks on a telephone line. */
const speech = 300;

/** The mean size of samples below which an agent is silent: the noise of μ-law is less. */
const silence = 64;

/** Whether the mean size of 16-bit samples is below some level; that of no samples is. */
const isBelow = (level: number, bytes: Uint8Array): boolean => {
  const pcm = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let at = 0; at + 1 < pcm.byteLength; at += 2) sum += Math.abs(pcm.getInt16(at, true));
  return sum * 2 < level * pcm.byteLength || pcm.byteLength < 2;
};

/** Whether somebody speaks in the 16-bit samples of a line. */
export const hasSpeech = (bytes: Uint8Array): boolean => !isBelow(speech, bytes);

/** Whether an agent's audio is silent, in either encoding. */
export const isSilent = (audio: Uint8Array, { encoding }: AudioFormat): boolean =>
  isBelow(silence, encoding === "ulaw" ? new Uint8Array(decodeMulaw(audio).buffer) : audio);

/**
 * 16-bit samples without their silent stretches.
 *
 * @param size - bytes of a stretch
 */
export const withoutSilence = (
  bytes: Uint8Array<ArrayBuffer>,
  size: number,
): Uint8Array<ArrayBuffer> => {
  const kept = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += size) {
    const stretch = bytes.subarray(at, at + size);
    if (isBelow(silence, stretch)) continue;
    kept.set(stretch, length);
    length += stretch.length;
  }
  return kept.subarray(0, length);
};
