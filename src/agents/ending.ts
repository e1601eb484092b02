import type { Playback } from "../flows/media/playback.ts";
import type { Timers } from "../lib/timers.ts";
import type { InboundAudio } from "./inbound.ts";

/** How much later than by our clock the last audio may be played, in ms. */
export const maxDelay = 30_000;

/** A response of which nothing more has come for so long, once all of it was played, is complete, in ms. */
export const maxGap = 3000;

/** How often it is checked whether it is time, in ms. */
const interval = 20;

/**
 * How long the callee must be silent once they have heard the last words, in ms: 600, and how much later it is known that they
 * speak. The frame of 20 ms in which they begin comes at its end, and may be too soft.
 */
const quiet = 640;

/** The longest way there and back of a line that acknowledges nothing, in ms. */
const roundTrip = 600;

/** How much later than by our clock audio may be played where nobody objects, in ms. */
const margin = 250;

/** How long the agent has to notice a sound of the callee, in ms. */
const noticing = 1000;

/** The result for the model. */
export const calledOff = "The callee spoke: the call goes on.";

/** Called when it is time for what ends the conversation, or a turn of the callee has called that off; it never rejects. */
type Settle = (isDue: boolean) => unknown;

interface Act {
  /** Does it if it is time. */
  readonly check: () => void;
  readonly callOff: (isSure: boolean) => void;
}

/** Whatever ends the conversation waits until the last words were heard. */
export interface Ending {
  /**
   * Adds an act that ends the conversation.
   *
   * @param isInterruptible - whether it waits for the callee's silence, and a turn of theirs calls it off
   * @param isHeld - whether something else comes before it
   */
  readonly add: (settle: Settle, isInterruptible?: boolean, isHeld?: () => boolean) => void;
  /**
   * A turn of the callee has begun or ended.
   *
   * @param isSure - `false`: it may have been before an act was added, unless they were audible since
   */
  readonly callOff: (isSure?: boolean) => void;
  /** The conversation has ended: none is done any more. */
  readonly stop: () => void;
}

/** @param audibleAt - when the callee was audible last, by the clock */
export const createEnding = (
  playback: Playback,
  timers: Timers,
  { silentAt, audibleAt }: Pick<InboundAudio, "silentAt" | "audibleAt">,
): Ending => {
  const acts = new Set<Act>();
  /** Until when one is being done, as far as that is waited for: it is certain then, and no other is done with it. */
  let actsUntil = 0;
  const check = (): void => {
    for (const act of acts) act.check();
    playback.isEnding = acts.size > 0;
    if (playback.isEnding) timers.set("ending", interval, check);
  };
  return {
    add: (work, isInterruptible = false, isHeld = () => false) => {
      const addedAt = timers.now();
      /** Since when nothing else comes before it. */
      let freeAt = addedAt;
      const settle = async (isDue: boolean) => {
        acts.delete(act);
        if (isDue) actsUntil = timers.now() + maxDelay;
        await work(isDue);
        if (isDue) actsUntil = 0;
      };
      const isDue = (now: number) => {
        const late = now - Math.max(freeAt, playback.until);
        if (late >= maxGap) playback.endAll();
        if (late >= maxDelay) return true;
        if (!isInterruptible) return now >= playback.heardAt(0) + margin;
        const wordsAt = Math.max(freeAt, playback.heardAt(roundTrip));
        return now >= Math.max(wordsAt + quiet, audibleAt() + noticing, silentAt());
      };
      const act: Act = {
        check: () => {
          const now = timers.now();
          if (now < actsUntil || isHeld()) freeAt = now;
          else if (isDue(now)) settle(true);
        },
        callOff: (isSure) => {
          if (isInterruptible && (isSure || audibleAt() > addedAt)) settle(false);
        },
      };
      acts.add(act);
      check();
    },
    callOff: (isSure = true) => {
      for (const act of acts) act.callOff(isSure);
    },
    stop: () => acts.clear(),
  };
};
