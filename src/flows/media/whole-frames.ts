import { joined } from "../../lib/encoding.ts";

/** Cuts audio for a carrier that takes whole frames alone, and keeps what is less than one. */
export class WholeFrames {
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();

  /** What it kept and the next audio, in whole frames of so many bytes. */
  take(pcm: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
    const bytes = joined([this.#rest, pcm]);
    const whole = bytes.length - (bytes.length % size);
    this.#rest = bytes.slice(whole);
    return bytes.slice(0, whole);
  }

  /** What it kept, padded with silence to a frame of so many bytes; empty if it kept nothing. */
  flush(size: number): Uint8Array<ArrayBuffer> {
    const frame = new Uint8Array(this.#rest.length && size);
    frame.set(this.#rest);
    this.clear();
    return frame;
  }

  /** Drops what it kept. */
  clear(): void {
    this.#rest = new Uint8Array();
  }
}
