import { decodeMulaw, encodeMulaw } from "../../lib/mulaw.ts";
import { Resampler } from "../../lib/resample.ts";

/** How audio is encoded: 16-bit samples, least significant byte first, or G.711 μ-law, a byte each. */
export interface AudioFormat {
  /** 16-bit samples, or G.711 μ-law. */
  readonly encoding: "pcm" | "ulaw";
  /** Samples per second: 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100 or 48000. */
  readonly sampleRate: number;
}

/** The rates between which audio is converted: each pair needs a filter, which is kept. */
const rates: ReadonlySet<unknown> = new Set([
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
]);

/** Whether audio of a format can be converted. */
export const isFormat = ({ encoding, sampleRate }: AudioFormat): boolean =>
  /^(pcm|ulaw)$/.test(encoding) && rates.has(sampleRate);

/** Bytes of a millisecond. */
export const bytesPerMs = ({ encoding, sampleRate }: AudioFormat): number =>
  (sampleRate * (encoding === "pcm" ? 2 : 1)) / 1000;

/** Converts audio from one format into another, as it comes; a piece may end within a sample. */
export class Converter {
  readonly #from: AudioFormat;
  readonly #to: AudioFormat;
  readonly #resampler: Resampler | undefined;
  /** The first byte of a sample whose second hasn't come yet. */
  #half: number | undefined;

  constructor(from: AudioFormat, to: AudioFormat) {
    this.#from = from;
    this.#to = to;
    if (from.sampleRate !== to.sampleRate) {
      this.#resampler = new Resampler(from.sampleRate, to.sampleRate);
    }
  }

  /** @param isNew - they begin with a whole sample: half of one that came before is dropped */
  push(bytes: Uint8Array<ArrayBuffer>, isNew = false): Uint8Array<ArrayBuffer> {
    if (isNew) this.#half = undefined;
    const isSame = !this.#resampler && this.#from.encoding === this.#to.encoding;
    if (isSame && this.#from.encoding === "ulaw") return bytes;
    const samples = this.#from.encoding === "ulaw" ? decodeMulaw(bytes) : this.#samples(bytes);
    return this.#encode(this.#resampler ? this.#resampler.push(samples) : samples);
  }

  /** What the filter still holds; what comes next begins something new. */
  flush(): Uint8Array<ArrayBuffer> {
    this.#half = undefined;
    return this.#encode(this.#resampler?.flush() ?? new Int16Array());
  }

  /** Bytes of samples, as every platform here has them: least significant first. */
  #encode(pcm: Int16Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (this.#to.encoding === "ulaw") return encodeMulaw(pcm);
    return new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  }

  #samples(bytes: Uint8Array<ArrayBuffer>): Int16Array<ArrayBuffer> {
    let whole = bytes;
    if (this.#half !== undefined) {
      whole = new Uint8Array(bytes.length + 1);
      whole[0] = this.#half;
      whole.set(bytes, 1);
    }
    const length = whole.length >> 1;
    this.#half = whole.length % 2 ? whole[whole.length - 1] : undefined;
    return whole.byteOffset % 2
      ? new Int16Array(whole.slice(0, length * 2).buffer)
      : new Int16Array(whole.buffer, whole.byteOffset, length);
  }
}
