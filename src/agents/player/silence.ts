/** Below this mean of the samples' size nobody speaks: μ-law's own noise is less. */
const quiet = 64;

/** Whether the mean of the samples' size is below some level. */
export const isBelow = (level: number, bytes: Uint8Array): boolean => {
  const pcm = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let sum = 0;
  for (let at = 0; at + 1 < pcm.byteLength; at += 2) sum += Math.abs(pcm.getInt16(at, true));
  return sum * 2 < level * pcm.byteLength;
};

/**
 * A piece of speech without its silent stretches.
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
    if (isBelow(quiet, stretch)) continue;
    kept.set(stretch, length);
    length += stretch.length;
  }
  return kept.subarray(0, length);
};
