import type { Playback } from "../flows/media/playback.ts";
import { withoutSilence } from "../lib/loudness.ts";
import type { Timers } from "../lib/timers.ts";
import type { Cut, EventOf } from "./agent.ts";
import { type AudioFormat, bytesPerMs, Converter } from "./audio/resample.ts";
import { maxGap } from "./ending.ts";
import type { AnsweredTurn } from "./options.ts";

/** The name of the response that announced words belong to. */
const announced = "outdial:announced";

/**
 * Words of the agent whose text has come before any of their audio, from a service that has no names for responses. Its
 * speech is made after its text, and a call of a tool may come between the two.
 */
export interface Announced {
  /** A text of the agent has come. Returns whether its audio is still to come, which only the text shows. */
  readonly text: (event: EventOf<"transcript">) => boolean;
  /** Audible audio of the agent has come: later texts of these words belong to it. */
  readonly audio: () => void;
  /** No audio of the words comes any more. */
  readonly end: () => void;
  /** The callee has spoken, or a tool has its result: what the agent says next are other words. */
  readonly next: () => void;
}

export const createAnnounced = (playback: Playback, timers: Timers): Announced => {
  let isAudible = false;
  let isOpen = false;
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    timers.clear("announced");
    playback.end(announced);
  };
  return {
    text: ({ text, interrupted, response: named }) => {
      if (!text || interrupted || named !== undefined || isAudible) return false;
      isOpen = true;
      playback.begin(announced);
      timers.set("announced", maxGap, end);
      return true;
    },
    audio: () => {
      isAudible = true;
      end();
    },
    end,
    next: () => {
      isAudible = false;
    },
  };
};

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

/** How often a response that isn't complete is checked, in ms. */
const interval = 100;

/** Reports each response to the callee, once it was played or cut off. */
export interface TurnReports {
  /** The first audible audio of a response has come, so many milliseconds after the callee's last. */
  readonly begin: (latency: number) => void;
  /** The line was silenced, or the call has ended. */
  readonly end: (interrupted: boolean) => void;
}

/**
 * @param until - when what the callee hears of the agent ends, by the clock
 * @param isOpen - whether more of it may come
 */
export const createTurnReports = (
  timers: Timers,
  until: () => number,
  isOpen: () => boolean,
  onTurn: (turn: AnsweredTurn) => void,
): TurnReports => {
  let latency: number | undefined;
  const end = (interrupted: boolean): void => {
    if (latency === undefined) return;
    const turn = { latency, interrupted };
    latency = undefined;
    timers.clear("turn");
    onTurn(turn);
  };
  const over = () => (isOpen() ? timers.now() + interval : until());
  return {
    begin: (ms) => {
      end(false);
      latency = ms;
      timers.set("turn", interval, () => timers.wait("turn", over, () => end(false)));
    },
    end,
  };
};

/** How long a failed response waits before it is asked for again, by how often it was, in ms. */
const delays = [250, 1000];

/** Asks again for a response that has failed for a passing reason. */
export interface Retries {
  /** Nothing of a response has come, and a repetition may mend that. Returns whether it is asked for again. */
  readonly failed: () => boolean;
  /** Another response has begun. */
  readonly started: () => void;
  /** A response is complete, or the callee has spoken: the next one is another. */
  readonly reset: () => void;
}

/** @param limit - how often, one after the other */
export const createRetries = (
  limit: number,
  timers: Timers,
  {
    silentAt,
    retry,
    onLast,
  }: {
    /** When the callee is silent, by the clock: then the service may have begun another response. */
    readonly silentAt: () => number;
    readonly retry: () => void;
    /** The last one has failed, too. */
    readonly onLast: () => void;
  },
): Retries => {
  let tries = 0;
  const plan = (delay: number, work: () => void): void =>
    timers.set("retry", delay, () => timers.wait("retry", silentAt, work));
  return {
    failed: () => {
      if (tries < limit) plan(delays[tries++] ?? 1000, retry);
      else if (limit > 0) plan(0, onLast);
      return limit > 0;
    },
    started: () => timers.clear("retry"),
    reset: () => {
      tries = 0;
    },
  };
};
