import type { Call } from "../line/call.ts";
import { type Recording, sampleAt, sampleRate } from "../recording/recording.ts";
import { bytesOf } from "../recording/sound.ts";
import { wavHead, wavHeadSize } from "../recording/wav.ts";

/** Samples in one piece of a body: two seconds. */
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

function* piecesOf(recording: Recording, samples: number, { from, to }: Range) {
  yield wavHead(samples, sampleRate).subarray(from, to);
  const skipped = Math.max(0, Math.floor((from - wavHeadSize) / 2));
  for (let first = skipped; wavHeadSize + first * 2 < to; first += block) {
    const start = wavHeadSize + first * 2;
    const bytes = bytesOf(recording.mix(first, Math.min(block, samples - first)));
    yield bytes.subarray(Math.max(0, from - start), to - start);
  }
}

/** The recording of a call as a WAV, or the part of it that a player asks for. */
export const recordingOf = (call: Call, range: string | null): Response => {
  const samples = sampleAt(call.talked);
  const size = wavHeadSize + samples * 2;
  const { from, to } = rangeOf(range, size);
  const headers = { "Content-Type": "audio/wav", "Accept-Ranges": "bytes" };
  if (from >= to) {
    const outside = { ...headers, "Content-Range": `bytes */${size}` };
    return new Response(null, { status: 416, headers: outside });
  }
  // Made as it is read: an hour would be 57 MB.
  const pieces = piecesOf(call.recording, samples, { from, to });
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
