import type { Playback } from "../flows/media/playback.ts";
import { withoutSilence } from "../lib/loudness.ts";
import type { Cut } from "./agent.ts";
import { type AudioFormat, bytesPerMs, Converter } from "./audio/resample.ts";

/** A backlog of audio that never stops is shortened above this, in ms. */
const maxBacklog = 250;

/** The stretches of silence that shorten it, in ms. */
const stretch = 20;

/** The agent's audio, on its way to the playback. */
export interface Output {
  /** Plays audio; returns the milliseconds that are dropped. */
  readonly play: (audio: Uint8Array<ArrayBuffer>, item?: string, response?: string) => number;
  /** All of a response has come; what comes late of a cancelled one is dropped. */
  readonly end: (response: string | undefined, isCancelled?: boolean) => void;
  /** Silences the line at once; returns what was cut off. */
  readonly clear: () => readonly Cut[];
}

/** @param isContinuous - whether the agent's audio never stops */
export const createOutput = (
  playback: Playback,
  from: AudioFormat,
  to: AudioFormat,
  isContinuous: boolean,
): Output => {
  let converter = new Converter(from, to);
  /** The audio that was converted last: the converter still holds its end. */
  let last:
    | { readonly item?: string | undefined; readonly response?: string | undefined }
    | undefined;
  return {
    play: (audio, item, response) => {
      if (playback.isCancelled(response)) return audio.length / bytesPerMs(from);
      const bytes = converter.push(audio, item !== last?.item);
      last = { item, response };
      const isBehind = playback.isEnding || playback.left > maxBacklog;
      const kept =
        isContinuous && isBehind ? withoutSilence(bytes, bytesPerMs(to) * stretch) : bytes;
      const removed = (bytes.length - kept.length) / bytesPerMs(to);
      return removed + playback.play(kept, item, response);
    },
    end: (response, isCancelled) => {
      if (last && (response === undefined || response === last.response)) {
        playback.play(converter.flush(), last.item, last.response);
        last = undefined;
      }
      playback.end(response, isCancelled);
    },
    clear: () => {
      converter = new Converter(from, to);
      last = undefined;
      return playback.clear();
    },
  };
};
