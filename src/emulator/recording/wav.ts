/** Bytes before the samples. */
export const wavHeadSize = 44;

const fourCharacters = (text: string): number =>
  text.split("").reduce((code, each, at) => code | (each.charCodeAt(0) << (8 * at)), 0);

/** The head of a WAV file: PCM, 16 bits, mono. */
export const wavHead = (samples: number, sampleRate: number): Uint8Array<ArrayBuffer> => {
  const view = new DataView(new ArrayBuffer(wavHeadSize));
  const size = samples * 2;
  const words = [
    fourCharacters("RIFF"),
    wavHeadSize - 8 + size,
    fourCharacters("WAVE"),
    fourCharacters("fmt "),
    16,
    1 | (1 << 16), // PCM, one channel
    sampleRate,
    sampleRate * 2, // bytes a second
    2 | (16 << 16), // bytes and bits a sample
    fourCharacters("data"),
    size,
  ];
  for (const [at, word] of words.entries()) view.setUint32(4 * at, word, true);
  return new Uint8Array(view.buffer);
};

/** A writer that could not go back, such as a pipe, leaves the length open. */
const isOpen = (size: number): boolean => size === 0 || size >= 0x7fff_0000;

/**
 * How long a WAV lasts, in seconds, by its first bytes; `undefined` when they are not the head of one.
 *
 * @param total - the size of the file, when it is known
 */
export const wavSeconds = (head: Uint8Array, total?: number): number | undefined => {
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const word = (at: number) => (at + 4 <= head.length ? view.getUint32(at, true) : Number.NaN);
  if (word(0) >> 0 !== fourCharacters("RIFF") || word(8) >> 0 !== fourCharacters("WAVE")) return;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= head.length; ) {
    const size = word(at + 4);
    if (word(at) >> 0 === fourCharacters("fmt ")) bytesPerSecond = word(at + 16);
    if (word(at) >> 0 === fourCharacters("data")) {
      const bytes = isOpen(size) ? (total ?? Number.NaN) - at - 8 : size;
      return bytes >= 0 && bytesPerSecond > 0 ? bytes / bytesPerSecond : undefined;
    }
    at += 8 + size + (size % 2);
  }
  return;
};
