import type { Step } from "./parts.ts";

/** Milliseconds of which the middle is taken when an action's length is open. */
const otherwise = 2_000;

/**
 * Says that an action begins. A callee who hangs up in the middle of the flow does so in the middle
 * of its first action.
 *
 * @param duration - milliseconds, when they are known
 */
export const begin = ({ call, action, step }: Step, duration?: number): void => {
  call.note({ type: "action", step, action, ...(duration !== undefined && { duration }) });
  if (!call.leavesMidway) return;
  call.leavesMidway = false;
  call.timeline.after((duration ?? otherwise) / 2, () => call.happen("normal"));
};
