import { type AudioFormat, Converter } from "./audio/resample.ts";

/** How it is kept: a byte a sample. */
const kept: AudioFormat = { encoding: "ulaw", sampleRate: 8000 };

/** The most that is kept, in bytes: 5 s. The oldest goes first. */
const max = 40_000;

/** Audio of the callee that the agent does not get yet. */
export interface Withheld {
  readonly push: (pcm: Uint8Array<ArrayBuffer>) => void;
  /** Returns it, and forgets it. */
  readonly take: () => Uint8Array<ArrayBuffer>;
}

export const createWithheld = (stream: AudioFormat): Withheld => {
  const encoder = new Converter(stream, kept);
  /** Nothing until some comes: most callees listen. */
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  let length = 0;
  return {
    push: (pcm) => {
      const more = encoder.push(pcm).subarray(-max);
      bytes ??= new Uint8Array(max);
      const excess = Math.max(0, length + more.length - max);
      bytes.copyWithin(0, excess, length);
      bytes.set(more, length - excess);
      length += more.length - excess;
    },
    take: () => {
      const taken = bytes?.subarray(0, length) ?? new Uint8Array();
      bytes = undefined;
      length = 0;
      return new Converter(kept, stream).push(taken);
    },
  };
};
