import { decodeMulaw, encodeMulaw } from "../../src/lib/mulaw.ts";

/** So many milliseconds of one level. */
export const level = (value: number, ms: number, rate: number): Int16Array<ArrayBuffer> =>
  new Int16Array((ms * rate) / 1000).fill(value);

const bytesOf = (samples: Int16Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(samples.buffer);

const samplesOf = (bytes: Uint8Array): Int16Array => new Int16Array(Uint8Array.from(bytes).buffer);

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

export const decoded = (text: unknown): Uint8Array =>
  new Uint8Array(Buffer.from(String(text), "base64"));

/** A format as a protocol's server has it. */
export interface Coding {
  readonly rate: number;
  readonly write: (samples: Int16Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;
  readonly read: (bytes: Uint8Array) => Int16Array;
}

export const pcm = (rate: number): Coding => ({ rate, write: bytesOf, read: samplesOf });
export const ulaw: Coding = { rate: 8_000, write: encodeMulaw, read: decodeMulaw };
