import type { Timers } from "../lib/timers.ts";
import type { AnsweredTurn } from "./options.ts";

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
