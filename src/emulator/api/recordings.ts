import type { Call } from "../line/call.ts";
import { type Mixing, telephoneRate } from "../recording/recording.ts";
import { bytesOf } from "../recording/sound.ts";
import { sampleAt } from "../recording/track.ts";
import { wavHead, wavHeadSize } from "../recording/wav.ts";

/** Samples in one piece of a body: two seconds at 8 kHz. */
const block = 16_000;

/** Bytes of a file: the first, and the one after the last. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** The one range that is asked for; all of the file when none is, or several are. */
const rangeOf = (header: string | null, size: number): Range => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first) return { from: Number(first), to: last ? Math.min(size, Number(last) + 1) : size };
  return { from: last ? Math.max(0, size - Number(last)) : 0, to: size };
};

/** A WAV that is made as it is read. */
interface File {
  readonly head: Uint8Array<ArrayBuffer>;
  /** Samples of each channel, and the bytes that one of all channels takes. */
  readonly samples: number;
  readonly frame: number;
  readonly mix: (first: number, count: number) => Int16Array;
}

const fileOf = ({ recording, talked: now }: Call, channels: 1 | 2): File => {
  // In one channel it is what a telephone gives; in two, what the stream gave.
  const sampleRate = channels === 1 ? telephoneRate : recording.sampleRate;
  const samples = sampleAt(now, sampleRate);
  const mixing: Mixing = { sampleRate, now, all: false };
  const mix = channels === 1 ? "mono" : "stereo";
  return {
    head: wavHead(samples, sampleRate, channels),
    samples,
    frame: 2 * channels,
    mix: (first, count) => recording[mix](first, count, mixing),
  };
};

function* piecesOf({ head, samples, frame, mix }: File, { from, to }: Range) {
  yield head.subarray(from, to);
  const skipped = Math.max(0, Math.floor((from - wavHeadSize) / frame));
  for (let first = skipped; wavHeadSize + first * frame < to; first += block) {
    const start = wavHeadSize + first * frame;
    const bytes = bytesOf(mix(first, Math.min(block, samples - first)));
    yield bytes.subarray(Math.max(0, from - start), to - start);
  }
}

/**
 * The recording of a call as a WAV, or the part of it that a player asks for.
 *
 * @param channels - 1: everybody in one; 2: the callee left, what is said to them right
 */
export const recordingOf = (call: Call, range: string | null, channels: 1 | 2 = 1): Response => {
  const file = fileOf(call, channels);
  const size = wavHeadSize + file.samples * file.frame;
  const { from, to } = rangeOf(range, size);
  const headers = { "Content-Type": "audio/wav", "Accept-Ranges": "bytes" };
  if (from >= to) {
    const outside = { ...headers, "Content-Range": `bytes */${size}` };
    return new Response(null, { status: 416, headers: outside });
  }
  // Made as it is read: an hour would be 57 MB.
  const pieces = piecesOf(file, { from, to });
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value } = pieces.next();
      if (value) controller.enqueue(value);
      else controller.close();
    },
  });
  const length = { "Content-Length": String(to - from) };
  return range && to - from < size
    ? new Response(body, {
        status: 206,
        headers: { ...headers, ...length, "Content-Range": `bytes ${from}-${to - 1}/${size}` },
      })
    : new Response(body, { headers: { ...headers, ...length } });
};
