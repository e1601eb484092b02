/** The size of a head, in bytes. */
export const wavHeadSize = 44;

const fourCharacters = (text: string): number =>
  text.split("").reduce((code, each, at) => code | (each.charCodeAt(0) << (8 * at)), 0);

/**
 * The head of a WAV file: PCM, 16 bits.
 *
 * @param samples - of each channel
 */
export const wavHead = (
  samples: number,
  sampleRate: number,
  channels: 1 | 2 = 1,
): Uint8Array<ArrayBuffer> => {
  const view = new DataView(new ArrayBuffer(wavHeadSize));
  const frame = 2 * channels;
  const size = samples * frame;
  const fields = [
    fourCharacters("RIFF"),
    wavHeadSize - 8 + size,
    fourCharacters("WAVE"),
    fourCharacters("fmt "),
    16,
    1 | (channels << 16), // PCM
    sampleRate,
    sampleRate * frame, // bytes per second
    frame | (16 << 16), // bytes of all channels, and bits, per sample
    fourCharacters("data"),
    size,
  ];
  for (const [at, field] of fields.entries()) view.setUint32(4 * at, field, true);
  return new Uint8Array(view.buffer);
};

/** A writer that could not seek, such as a pipe, leaves the length open. */
const isOpen = (size: number): boolean => size === 0 || size >= 0x7fff_0000;

/** The fields of a WAV's head. */
interface Head {
  /** 1 is PCM. */
  readonly format: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSecond: number;
  readonly bits: number;
  /** Where the samples begin. */
  readonly from: number;
  /** The size of the samples in bytes, as the head has it. */
  readonly size: number;
}

/** The head of a WAV; `undefined` when these bytes are not the beginning of one. */
const headOf = (bytes: Uint8Array): Head | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const uint32 = (at: number) => (at + 4 <= bytes.length ? view.getUint32(at, true) : Number.NaN);
  if (uint32(0) >> 0 !== fourCharacters("RIFF") || uint32(8) >> 0 !== fourCharacters("WAVE")) {
    return;
  }
  let format = { format: 0, channels: 0, sampleRate: 0, bytesPerSecond: 0, bits: 0 };
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = uint32(at + 4);
    if (uint32(at) >> 0 === fourCharacters("fmt ")) {
      format = {
        format: uint32(at + 8) & 0xffff,
        channels: uint32(at + 8) >>> 16,
        sampleRate: uint32(at + 12),
        bytesPerSecond: uint32(at + 16),
        bits: uint32(at + 20) >>> 16,
      };
    }
    if (uint32(at) >> 0 === fourCharacters("data")) return { ...format, from: at + 8, size };
    at += 8 + size + (size % 2);
  }
  return;
};

/**
 * The length of a WAV in seconds, by its first bytes; `undefined` when they are not the head of one.
 *
 * @param total - the size of the file, if known
 */
export const wavSeconds = (bytes: Uint8Array, total?: number): number | undefined => {
  const head = headOf(bytes);
  if (!head) return;
  const { from, size, bytesPerSecond } = head;
  const length = isOpen(size) ? (total ?? Number.NaN) - from : size;
  return length >= 0 && bytesPerSecond > 0 ? length / bytesPerSecond : undefined;
};

/**
 * The samples of a WAV, of its first channel.
 *
 * @throws {TypeError} when it is not a WAV of 16-bit PCM, or its end is missing
 */
export const readWav = (
  bytes: Uint8Array,
): { readonly samples: Int16Array; readonly sampleRate: number } => {
  const head = headOf(bytes);
  // The format 0xfffe refers to an extension, and is PCM where it has 16 bits.
  if (!head || ![1, 0xfffe].includes(head.format) || head.bits !== 16 || head.channels < 1) {
    throw new TypeError("must be a WAV of 16-bit PCM");
  }
  const { from, size, channels, sampleRate } = head;
  if (!isOpen(size) && from + size > bytes.length) {
    throw new TypeError("is cut off: it has fewer samples than its head says");
  }
  const end = isOpen(size) ? bytes.length : from + size;
  const view = new DataView(bytes.buffer, bytes.byteOffset, end);
  const samples = Int16Array.from({ length: Math.floor((end - from) / 2 / channels) }, (_, at) =>
    view.getInt16(from + 2 * channels * at, true),
  );
  return { samples, sampleRate };
};
