/** What is added before the segments are counted, and taken off afterwards. */
const bias = 33;

/** The highest magnitude that has a code, with the bias. */
const most = 0x1fff;

/** The code of a 16-bit sample: as ITU's reference does it, in ones' complement where negative. */
const codeOf = (sample: number): number => {
  const magnitude = Math.min(((sample < 0 ? ~sample : sample) >> 2) + bias, most);
  const segment = 26 - Math.clz32(magnitude);
  const step = (magnitude >> (segment + 1)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (segment << 4) | step) & 0xff;
};

const sampleOf = (code: number): number => {
  const bits = ~code & 0xff;
  const segment = (bits >> 4) & 0x07;
  const magnitude = ((2 * (bits & 0x0f) + bias) << segment) - bias;
  return (bits & 0x80 ? -4 : 4) * magnitude;
};

/**
 * G.711 μ-law, as the ITU's reference (G.191) writes it. The widespread routine of Sun takes the two's
 * complement of a negative sample and gives another code for 127 of the 65 536 inputs.
 */
export const ulawOf = (pcm: Int16Array): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(pcm.length);
  for (let at = 0; at < pcm.length; at++) bytes[at] = codeOf(pcm[at] ?? 0);
  return bytes;
};

/** The 16-bit samples that G.711 μ-law stands for. */
export const pcmOf = (ulaw: Uint8Array): Int16Array<ArrayBuffer> => {
  const pcm = new Int16Array(ulaw.length);
  for (let at = 0; at < ulaw.length; at++) pcm[at] = sampleOf(ulaw[at] ?? 0);
  return pcm;
};
