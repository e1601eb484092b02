import { decodeMulaw } from "./mulaw.ts";

/** The mean size of samples above which somebody speaks on a quiet line, and on the noisiest one that is followed. */
const speech = 300;
const maxSpeech = 1200;

/** How much louder than the noise of the line speech is, and in how many frames that is measured: words have gaps. */
const overNoise = 2;
const noiseFrames = 50;

/** The mean size of samples below which an agent is silent: the noise of μ-law is less. */
const silence = 64;

/** The mean size of 16-bit samples; 0 of none. */
const meanOf = (bytes: Uint8Array): number => {
  const pcm = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let at = 0; at + 1 < pcm.byteLength; at += 2) sum += Math.abs(pcm.getInt16(at, true));
  return (sum * 2) / pcm.byteLength || 0;
};

/** Whether somebody speaks in the 16-bit samples of a quiet line. */
export const hasSpeech = (bytes: Uint8Array): boolean => meanOf(bytes) >= speech;

/**
 * Finds speech in the frames of a line, in 16-bit samples: what is louder than its noise, which is the quietest frame of
 * the last second or two.
 */
export const createSpeechDetector = (): ((bytes: Uint8Array) => boolean) => {
  let [before, lowest, frames] = [0, maxSpeech, 0];
  return (bytes) => {
    const mean = meanOf(bytes);
    lowest = Math.min(lowest, mean);
    const noise = Math.min(before, lowest);
    if (++frames >= noiseFrames) [before, lowest, frames] = [lowest, maxSpeech, 0];
    return mean >= Math.min(Math.max(speech, noise * overNoise), maxSpeech);
  };
};

/** Whether an agent's audio is silent, in either encoding. */
export const isSilent = (audio: Uint8Array, encoding: "pcm" | "ulaw"): boolean =>
  meanOf(encoding === "ulaw" ? new Uint8Array(decodeMulaw(audio).buffer) : audio) < silence;

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
    if (meanOf(stretch) < silence) continue;
    kept.set(stretch, length);
    length += stretch.length;
  }
  return kept.subarray(0, length);
};
