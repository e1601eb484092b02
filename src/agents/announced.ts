import type { Playback } from "../flows/media/playback.ts";
import type { Timers } from "../lib/timers.ts";
import type { EventOf } from "./agent.ts";
import { maxGap } from "./ending.ts";

/** Names the response that they belong to. */
const response = "outdial:announced";

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
    playback.end(response);
  };
  return {
    text: ({ text, interrupted, response: named }) => {
      if (!text || interrupted || named !== undefined || isAudible) return false;
      isOpen = true;
      playback.begin(response);
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
