import { AudioQueue } from "../flows/media/playback.ts";
import type { Timers } from "../lib/timers.ts";
import { hasSpeech } from "./audio/loudness.ts";
import { type AudioFormat, bytesPerMs, Converter } from "./audio/resample.ts";
import type { Meter } from "./metrics.ts";

/** The most that is buffered until the agent is ready, in bytes: 16 s at 16 kHz. */
const maxBuffered = 2 ** 19;

/** A line that sends nothing for so long in the middle of speech is continued with silence, in ms. */
const maxGap = 500;

/** The most silence that continues a line, and how much of it is sent at once, in ms. */
const maxSilence = 2000;
const silenceChunk = 100;

/** How long an agent has to respond to a callee who has finished, before it is asked to or the call is ended, in ms. */
const settling = 1000;

/** A callee whose end of speech isn't reported has finished so long after their last sound, in ms. */
const maxPause = 3000;

/** The callee's audio, on its way to the agent. */
export interface InboundAudio {
  /** A frame of the stream has come; returns its milliseconds if somebody speaks in it, else 0. */
  readonly push: (bytes: Uint8Array<ArrayBuffer>) => number;
  /** The agent is ready: sends it what is buffered and what comes, in its format. */
  readonly open: (format: AudioFormat, send: (audio: Uint8Array<ArrayBuffer>) => void) => void;
  /** The agent has noticed that the callee speaks or has finished; left out, that they have said more. */
  readonly speech: (isSpeaking?: boolean) => void;
  /** The agent responds to what the callee has said. */
  readonly answered: () => void;
  /** When the callee has finished and the agent had time to respond, by the clock. */
  readonly silentAt: () => number;
}

/**
 * Buffers audio until the agent is ready, so that nothing is lost. A line that stops sending in the middle of speech,
 * as with silence suppression, is continued with silence: else a model can't notice that the callee has finished.
 */
export const createInboundAudio = (
  stream: AudioFormat,
  meter: Meter,
  timers: Timers,
): InboundAudio => {
  const buffer = new AudioQueue<undefined>();
  let send: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined;
  /** Whether the agent has noticed speech, and not yet its end. */
  let isSpeech = false;
  /** When the agent noticed speech or its end, and when the callee was audible last. */
  let noticedAt = Number.NEGATIVE_INFINITY;
  let soundAt = noticedAt;
  /** Milliseconds of quiet audio since the callee spoke last. */
  let quietMs = Number.POSITIVE_INFINITY;
  /** Milliseconds of the last frame: the next one comes so much later. */
  let frameMs = 0;

  const fill = (filled: number) => {
    send?.(new Uint8Array(silenceChunk * bytesPerMs(stream)));
    const next = filled + silenceChunk;
    if (next < maxSilence) timers.set("gap", silenceChunk, () => fill(next));
  };
  const watchGap = () => {
    if (!send || !(isSpeech || quietMs < maxGap)) timers.clear("gap");
    else timers.set("gap", maxGap + (frameMs > silenceChunk ? frameMs : 0), () => fill(0));
  };
  return {
    push: (bytes) => {
      const ms = bytes.length / bytesPerMs(stream);
      const isSound = hasSpeech(bytes);
      meter.audio.input += ms;
      frameMs = ms || frameMs;
      quietMs = isSound ? 0 : quietMs + ms;
      if (isSound) soundAt = timers.now();
      if (send) {
        send(bytes);
        watchGap();
      } else if (buffer.length + bytes.length <= maxBuffered) buffer.push(bytes, undefined);
      else meter.audio.inputLost += ms;
      return isSound ? ms : 0;
    },
    open: (format, sendAudio) => {
      const converter = new Converter(stream, format);
      send = (bytes) => {
        const audio = converter.push(bytes);
        if (audio.length > 0) sendAudio(audio);
      };
      for (let part = buffer.take(maxBuffered); part; part = buffer.take(maxBuffered)) {
        send(new Uint8Array(part.bytes));
      }
      watchGap();
    },
    speech: (isSpeaking) => {
      noticedAt = timers.now();
      if (isSpeaking === undefined) return;
      isSpeech = isSpeaking;
      if (!isSpeaking) quietMs = Number.POSITIVE_INFINITY;
      watchGap();
    },
    answered: () => {
      if (!isSpeech) noticedAt = Number.NEGATIVE_INFINITY;
    },
    silentAt: () => (isSpeech ? Math.max(noticedAt, soundAt) + maxPause : noticedAt + settling),
  };
};
