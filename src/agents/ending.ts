import type { Playback } from "../flows/media/playback.ts";
import type { Timers } from "../lib/timers.ts";
import type { InboundAudio } from "./inbound-audio.ts";

/** How much later than by our clock the last audio may be played, in ms. */
export const maxDelay = 30_000;

/** A response of which nothing more has come for so long, once all of it was played, is complete, in ms. */
export const maxGap = 3000;

/** How often it is checked whether everything was played, in ms. */
const interval = 20;

/** How long the callee must be silent once they have heard the last words, in ms. */
const quiet = 600;

/** The longest way there and back of a line that acknowledges nothing, in ms. */
const roundTrip = 600;

/** How much later than by our clock audio may be played where nobody objects, in ms. */
const margin = 250;

/** What the model is told. */
export const calledOff = "The callee spoke: the call goes on.";

/** What has become of an act: it is its time, a turn of the callee has called it off, or the call has ended before. */
export type Outcome = "due" | "called_off" | "over";

/** Something that ends the conversation. */
export interface Act {
  /** Whether it waits for the callee's silence, and a turn of theirs calls it off. */
  readonly isInterruptible: boolean;
  /** Whether something else comes before it. */
  readonly isHeld?: () => boolean;
  readonly settle: (outcome: Outcome) => void;
}

/** Whatever ends the conversation: each act waits until the last words were heard. */
export interface Ending {
  /** Returns what withdraws the act; it isn't settled then. */
  readonly add: (act: Act) => () => void;
  /** A turn of the callee has begun or ended. */
  readonly callOff: () => void;
  /** The same, unless they were silent since the act was added: what is understood of them may come late. */
  readonly callOffIfHeard: () => void;
  /** The call has ended. */
  readonly stop: () => void;
}

export const createEnding = (
  playback: Playback,
  timers: Timers,
  input: Pick<InboundAudio, "silentAt" | "quietAt" | "isHeardSince">,
): Ending => {
  /** The acts, with when they were added, and since when nothing else comes before them. */
  const acts = new Map<Act, { readonly addedAt: number; freeAt: number }>();

  const settle = (act: Act, outcome: Outcome) => {
    if (acts.delete(act)) act.settle(outcome);
  };
  const dueAt = ({ isInterruptible }: Act, freeAt: number) =>
    isInterruptible
      ? Math.max(
          freeAt + quiet,
          playback.heardAt(roundTrip) + quiet,
          input.quietAt(),
          input.silentAt(),
        )
      : playback.heardAt(0) + margin;
  const check = (): void => {
    const now = timers.now();
    let next = quiet;
    for (const [act, times] of acts) {
      const isHeld = !!act.isHeld?.();
      if (isHeld) times.freeAt = now;
      const late = now - Math.max(times.freeAt, playback.until);
      if (late >= maxGap) playback.endAll();
      const rest = late >= maxDelay ? 0 : dueAt(act, times.freeAt) - now;
      if (rest <= 0 && !isHeld) settle(act, "due");
      else next = Math.min(next, isHeld || rest > quiet ? interval : rest);
    }
    playback.isEnding = acts.size > 0;
    if (acts.size > 0) timers.set("ending", next, check);
  };
  return {
    add: (act) => {
      const now = timers.now();
      acts.set(act, { addedAt: now, freeAt: now });
      check();
      return () => void acts.delete(act);
    },
    callOff: () => {
      for (const act of acts.keys()) if (act.isInterruptible) settle(act, "called_off");
    },
    callOffIfHeard: () => {
      for (const [act, { addedAt }] of acts) {
        if (act.isInterruptible && input.isHeardSince(addedAt)) settle(act, "called_off");
      }
    },
    stop: () => {
      for (const act of acts.keys()) settle(act, "over");
    },
  };
};
