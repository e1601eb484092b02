import type { Player } from "../../player/player.ts";
import type { Timers } from "../timers.ts";

/** How much later than by our clock what was said last may be heard, in ms. */
const within = 30_000;

/** Does something once all that the agent says was heard, or should have been long ago. */
export const onceHeard = (player: Player, timers: Timers, name: string, end: () => void): void => {
  const from = performance.now();
  const look = () => {
    const wait = Math.max(from, player.until) + within - performance.now();
    if (wait > 0) timers.after(name, wait, look);
    else end();
  };
  look();
  player.drained().then(end);
};
