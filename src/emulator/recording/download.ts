import { bytesOf } from "../../lib/encoding.ts";
import type { RecordedPart } from "../../server/call.ts";
import { type Mixing, type Recording, telephoneRate } from "./recording.ts";
import { sampleAt } from "./track.ts";
import { wavHead, wavHeadSize } from "./wav.ts";

/** Samples in one chunk of the body: two seconds at 8 kHz. */
const chunkSamples = 16_000;

/** Bytes of a file: the first, and the one after the last. */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** The range of a `Range` header; the whole file when it has none, or several. */
const rangeOf = (header: string | null, size: number): ByteRange => {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first) return { from: Number(first), to: last ? Math.min(size, Number(last) + 1) : size };
  return { from: last ? Math.max(0, size - Number(last)) : 0, to: size };
};

/** A WAV that is mixed while it is read. */
export interface WavSource {
  readonly head: Uint8Array<ArrayBuffer>;
  /** Samples of each channel. */
  readonly samples: number;
  /** Bytes of one sample of all channels. */
  readonly frame: number;
  readonly mix: (first: number, count: number) => Int16Array | Promise<Int16Array>;
}

const wavSource = (
  recording: Recording,
  { from = 0, to, side, gaps }: RecordedPart,
  channels: 1 | 2,
): WavSource => {
  // One channel has the telephone's rate, two have that of the stream.
  const sampleRate = channels === 1 ? telephoneRate : recording.sampleRate;
  const start = sampleAt(from, sampleRate);
  const samples = sampleAt(to, sampleRate) - start;
  const mixing: Mixing = { sampleRate, now: to, all: false, gaps };
  const mix = channels === 1 ? "mono" : "stereo";
  return {
    head: wavHead(samples, sampleRate, channels),
    samples,
    frame: 2 * channels,
    mix: (first, count) =>
      side && channels === 1
        ? recording.side(side, start + first, count, mixing)
        : recording[mix](start + first, count, mixing),
  };
};

async function* chunksOf({ head, samples, frame, mix }: WavSource, { from, to }: ByteRange) {
  yield head.subarray(from, to);
  const skipped = Math.max(0, Math.floor((from - wavHeadSize) / frame));
  for (let first = skipped; wavHeadSize + first * frame < to; first += chunkSamples) {
    const start = wavHeadSize + first * frame;
    const bytes = bytesOf(await mix(first, Math.min(chunkSamples, samples - first)));
    yield bytes.subarray(Math.max(0, from - start), to - start);
  }
}

/**
 * A response with a WAV, or with the part that a player requests.
 *
 * @param range - the `Range` header
 */
export const wavResponse = (source: WavSource, range: string | null): Response => {
  const size = wavHeadSize + source.samples * source.frame;
  const { from, to } = rangeOf(range, size);
  const headers = { "Content-Type": "audio/wav", "Accept-Ranges": "bytes" };
  if (from >= to) {
    const outside = { ...headers, "Content-Range": `bytes */${size}` };
    return new Response(null, { status: 416, headers: outside });
  }
  // Made while it is read: an hour would be 57 MB.
  const chunks = chunksOf(source, { from, to });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value } = await chunks.next();
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

/**
 * A response with the recording of a call as a WAV, or with the part that a player requests.
 *
 * @param range - the `Range` header
 * @param channels - 1: both sides in one; 2: callee left, application right
 */
export const downloadOf = (
  recording: Recording,
  part: RecordedPart,
  range: string | null,
  channels: 1 | 2 = 1,
): Response => wavResponse(wavSource(recording, part, channels), range);
