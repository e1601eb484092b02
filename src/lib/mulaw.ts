/** Added before the segments are counted, and subtracted afterwards. */
const bias = 33;

/** The highest magnitude that has a code, with the bias. */
const maxMagnitude = 0x1fff;

/** The code of a 16-bit sample: as ITU's reference does it, in ones' complement where negative. */
const encodeSample = (sample: number): number => {
  const magnitude = Math.min(((sample < 0 ? ~sample : sample) >> 2) + bias, maxMagnitude);
  const segment = 26 - Math.clz32(magnitude);
  const step = (magnitude >> (segment + 1)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (segment << 4) | step) & 0xff;
};

const decodeSample = (code: number): number => {
  const bits = ~code & 0xff;
  const segment = (bits >> 4) & 0x07;
  const magnitude = ((2 * (bits & 0x0f) + bias) << segment) - bias;
  return (bits & 0x80 ? -4 : 4) * magnitude;
};

/**
 * Encodes G.711 μ-law, as the ITU's reference (G.191) does. The widespread routine of Sun takes the two's complement
 * of a negative sample and gives another code for 127 of the 65 536 inputs.
 */
export const encodeMulaw = (pcm: Int16Array): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(pcm.length);
  for (let at = 0; at < pcm.length; at++) bytes[at] = encodeSample(pcm[at] ?? 0);
  return bytes;
};

/** Decodes G.711 μ-law into 16-bit samples. */
export const decodeMulaw = (bytes: Uint8Array): Int16Array<ArrayBuffer> => {
  const pcm = new Int16Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) pcm[at] = decodeSample(bytes[at] ?? 0);
  return pcm;
};
