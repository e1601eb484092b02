import { AudioQueue } from "../flows/media/audio-queue.ts";
import { createSpeechDetector } from "../lib/loudness.ts";
import type { Timers } from "../lib/timers.ts";
import { type AudioFormat, bytesPerMs, Converter } from "./audio/resample.ts";
import type { Meter } from "./metrics.ts";
import type { PressedKeys } from "./options.ts";

/** How it is kept: a byte a sample. */
const withheldFormat: AudioFormat = { encoding: "ulaw", sampleRate: 8000 };

/** The most that is kept, in bytes: 5 s. The oldest goes first. */
const maxWithheld = 40_000;

/** Audio of the callee that the agent does not get yet. */
interface Withheld {
  readonly push: (pcm: Uint8Array<ArrayBuffer>) => void;
  /** Returns it, and forgets it. */
  readonly take: () => Uint8Array<ArrayBuffer>;
}

const createWithheld = (stream: AudioFormat): Withheld => {
  const encoder = new Converter(stream, withheldFormat);
  /** Nothing until some comes: most callees listen. */
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  let length = 0;
  return {
    push: (pcm) => {
      const more = encoder.push(pcm).subarray(-maxWithheld);
      bytes ??= new Uint8Array(maxWithheld);
      const excess = Math.max(0, length + more.length - maxWithheld);
      bytes.copyWithin(0, excess, length);
      bytes.set(more, length - excess);
      length += more.length - excess;
    },
    take: () => {
      const taken = bytes?.subarray(0, length) ?? new Uint8Array();
      bytes = undefined;
      length = 0;
      return new Converter(withheldFormat, stream).push(taken);
    },
  };
};

/** The key that ends the others. */
const endKey = "#";

/** The most keys that are kept, the last ones. */
const maxKeys = 64;

/** How long the tone of a key may last in the callee's audio, in ms, with the time until it comes. */
const toneDuration = 200;

/** The keys that the callee presses, on their way to the application. They may be a PIN: they are kept nowhere else. */
export interface Keys {
  readonly press: (key: string) => void;
  /** Whether the tone of a key may be in the callee's audio. */
  readonly isAudible: () => boolean;
}

/**
 * @param timeout - milliseconds without another key after which they are complete
 * @param onKeys - called with each key, and when they are complete
 */
export const createKeys = (
  timeout: number,
  timers: Timers,
  onKeys: (pressed: PressedKeys) => void,
): Keys => {
  let keys = "";
  let audibleUntil = Number.NEGATIVE_INFINITY;
  const finish = (more: { readonly key?: string } = {}): void => {
    const pressed = { ...more, keys, done: true };
    keys = "";
    timers.clear("keys");
    onKeys(pressed);
  };
  return {
    press: (key) => {
      audibleUntil = Math.max(audibleUntil, timers.now()) + toneDuration;
      if (key === endKey) {
        finish({ key });
        return;
      }
      keys = (keys + key).slice(-maxKeys);
      timers.set("keys", timeout, finish);
      onKeys({ key, keys, done: false });
    },
    isAudible: () => timers.now() < audibleUntil,
  };
};

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

/** Audible audio belongs to speech whose end isn't reported for so long, in ms: after that it may be noise. */
const maxVague = 10_000;

/** Sound without a pause of one frame is noise after so long, in ms. */
const maxSound = 3000;

/** A pause of the callee that ends what is withheld, in ms. */
const minPause = 300;

/** A pause that ends words, in ms. */
export const wordsPause = 500;

/** Less of the callee's speech than this, in ms, isn't followed by what was said before: it may be a click. */
const minSpeech = 200;

/** The most silence after what was withheld: as much has passed, and the agent notices that the callee has finished. */
const maxTail = 1000;

/** Words of the callee, which go on until a pause. */
export interface Words {
  /** When they began, and when the callee was audible last, by the clock. */
  readonly from: number;
  readonly at: number;
  /** The quiet before them, in ms. */
  readonly quiet: number;
}

/** The callee's audio, on its way to the agent. */
export interface InboundAudio {
  /** A frame of the stream has come; returns its milliseconds if somebody speaks in it, else 0. */
  readonly push: (bytes: Uint8Array<ArrayBuffer>) => number;
  /** The agent is ready: sends it what is buffered and what comes, in its format. */
  readonly open: (format: AudioFormat, send: (audio: Uint8Array<ArrayBuffer>) => void) => void;
  /** Another agent takes over: what comes until it is ready is buffered. */
  readonly close: () => void;
  /**
   * From now on the agent gets silence, and the callee's speech if that `isKept` once the agent has finished, or before
   * what the callee says next. Left out: no longer.
   */
  readonly mute: (isKept?: boolean) => void;
  /** The agent has noticed that the callee speaks or has finished; left out, that they have said more. */
  readonly speech: (isSpeaking?: boolean) => void;
  /** The agent responds to what the callee has said. */
  readonly answered: () => void;
  /** When the callee has finished and the agent had time to respond, by the clock. */
  readonly silentAt: () => number;
  /** When the callee was audible last, by the clock; 0 on a line that is always audible. */
  readonly audibleAt: () => number;
  /** The callee's last words. */
  readonly words: () => Words;
}

/**
 * Buffers audio until the agent is ready, so that nothing is lost. While the agent is audible, it gets speech of less
 * than `interruptAfter` ms as silence. A line that stops sending in the middle of speech,
 * as with silence suppression, is continued with silence: else a model can't notice that the callee has finished.
 *
 * @param isHeard - whether the callee hears the agent
 * @param overAt - when the agent has finished, by the clock, as far as that is known
 */
export const createInboundAudio = (
  stream: AudioFormat,
  meter: Meter,
  timers: Timers,
  interruptAfter: number,
  isHeard: () => boolean,
  overAt: () => number,
): InboundAudio => {
  const buffer = new AudioQueue<undefined>();
  let send: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined;
  /** Whether the agent has noticed speech, and not yet its end. */
  let isSpeech = false;
  /** Whether the agent has noticed speech and doesn't report its end. */
  let isVague = false;
  /** When the agent noticed speech or its end. */
  let noticedAt = Number.NEGATIVE_INFINITY;
  /** When the sound began that has had no pause. */
  let soundFrom: number | undefined;
  let words: Words = { from: noticedAt, at: noticedAt, quiet: 0 };
  /** Milliseconds of quiet audio since the callee spoke last. */
  let quietMs = Number.POSITIVE_INFINITY;
  /** Milliseconds of the last frame: the next one comes so much later. */
  let frameMs = 0;

  const hasSpeech = createSpeechDetector();
  const withheld = createWithheld(stream);
  /** What the callee has said while the agent got silence. */
  let missed: Withheld | undefined;
  /** Whether the callee's speech is kept, while the agent gets silence. */
  let kept: boolean | undefined;
  /** The last frame before what is kept: speech begins softly. */
  let before: Uint8Array<ArrayBuffer> | undefined;
  /** Milliseconds that are withheld, and of the audible ones of them. */
  let withheldMs = 0;
  let soundMs = 0;
  /** Whether the callee's speech interrupts, until its next pause. */
  let isThrough = false;

  const silenceOf = (ms: number) => new Uint8Array(Math.round(ms) * bytesPerMs(stream));
  /** Passes on the silence since the callee's last sound, so that the agent notices that they have finished. */
  const passTail = () => {
    pass(silenceOf(Math.min(quietMs, maxTail)));
    noticedAt = timers.now();
  };
  /** Passes on what the callee has said while the agent got silence. */
  const deliver = () => {
    if (!missed || kept !== undefined) return;
    const bytes = missed.take();
    missed = undefined;
    pass(bytes);
    passTail();
  };
  /** Passes on what is withheld, or as much silence. */
  const release = (isReal: boolean) => {
    if (isReal) deliver();
    const bytes = withheld.take();
    pass(isReal ? bytes : silenceOf(withheldMs));
    withheldMs = soundMs = 0;
  };
  const pass = (bytes: Uint8Array<ArrayBuffer>) => {
    if (send) {
      send(bytes);
      watchGap();
    } else if (buffer.length + bytes.length <= maxBuffered) buffer.push(bytes, undefined);
    else meter.audio.inputLost += bytes.length / bytesPerMs(stream);
  };
  /** Speech while the agent is audible: it waits until it is long enough, or over. */
  const hold = (bytes: Uint8Array<ArrayBuffer>, ms: number) => {
    timers.clear("gap");
    withheld.push(bytes);
    withheldMs += ms;
    if (quietMs === 0) soundMs += ms;
    isThrough = soundMs >= (interruptAfter || minSpeech);
    if (isThrough || quietMs >= minPause) release(isThrough);
  };

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
      if (isSound) {
        const at = timers.now();
        const quiet = at - words.at;
        words = quiet >= wordsPause ? { from: at, at, quiet } : { ...words, at };
        soundFrom ??= at;
      } else soundFrom = undefined;
      quietMs = isSound ? 0 : quietMs + ms;
      if (quietMs >= minPause) isThrough = false;
      if (kept !== undefined) {
        if (send) pass(new Uint8Array(bytes.length));
        if (kept && quietMs < minPause) {
          missed ??= createWithheld(stream);
          if (before) missed.push(before);
          missed.push(bytes);
          before = undefined;
        } else before = bytes;
      } else if (
        !isThrough &&
        isHeard() &&
        (withheldMs > 0 || (isSound && (interruptAfter > 0 || missed)))
      ) {
        hold(bytes, ms);
      } else {
        if (withheldMs > 0) release(true);
        if (isSound) deliver();
        pass(bytes);
      }
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
    close: () => {
      send = undefined;
      isSpeech = false;
      watchGap();
    },
    mute: (isKept) => {
      if (withheldMs > 0) {
        release(true);
        passTail();
      }
      kept = isKept;
      before = undefined;
      if (missed) timers.wait("missed", overAt, deliver);
    },
    speech: (isSpeaking) => {
      noticedAt = timers.now();
      meter.isGreeting = false;
      isVague = isSpeaking === undefined;
      if (isSpeaking === undefined) return;
      isSpeech = isSpeaking;
      if (!isSpeaking) quietMs = Number.POSITIVE_INFINITY;
      watchGap();
    },
    answered: () => {
      if (!isSpeech) noticedAt = Number.NEGATIVE_INFINITY;
    },
    silentAt: () => {
      if (isSpeech) return Math.max(noticedAt, words.at) + maxPause;
      const until = isVague ? Math.min(words.at, noticedAt + maxVague) : noticedAt;
      return Math.max(noticedAt, until) + settling;
    },
    audibleAt: () => (words.at - (soundFrom ?? words.at) > maxSound ? 0 : words.at),
    words: () => words,
  };
};
