import type { AudioFormat } from "./format.ts";
import { Resampler } from "./resampler.ts";
import { pcmOf, ulawOf } from "./ulaw.ts";

/** Bytes of 16-bit samples, as every platform here has them: least significant first. */
const bytesOf = (pcm: Int16Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);

/** Turns audio of one format into another, as it comes; a piece may end within a sample. */
export class Converter {
  readonly #from: AudioFormat;
  readonly #to: AudioFormat;
  readonly #resampler: Resampler | undefined;
  /** The half of a sample that came last. */
  #half: number | undefined;

  constructor(from: AudioFormat, to: AudioFormat) {
    this.#from = from;
    this.#to = to;
    if (from.sample_rate !== to.sample_rate) {
      this.#resampler = new Resampler(from.sample_rate, to.sample_rate);
    }
  }

  push(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const isSame = !this.#resampler && this.#from.encoding === this.#to.encoding;
    if (isSame && this.#from.encoding === "ulaw") return bytes;
    const samples = this.#from.encoding === "ulaw" ? pcmOf(bytes) : this.#samples(bytes);
    return this.#written(this.#resampler ? this.#resampler.push(samples) : samples);
  }

  /** What the filter still holds; what comes next is something new. */
  flush(): Uint8Array<ArrayBuffer> {
    this.#half = undefined;
    return this.#written(this.#resampler?.flush() ?? new Int16Array());
  }

  #written(pcm: Int16Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    return this.#to.encoding === "ulaw" ? ulawOf(pcm) : bytesOf(pcm);
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
