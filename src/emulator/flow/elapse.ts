import type { Call } from "../line/call.ts";

/**
 * Lets time pass up to a moment of a call, in milliseconds since the answer, while the person who has
 * answered does what they do.
 *
 * @param goesOn - whether there is still reason to wait
 */
export const elapse = async (
  call: Call,
  until: number,
  goesOn: () => boolean = () => !call.isOver,
): Promise<void> => {
  const { person, timeline } = call;
  if (!person) return timeline.wait(until - call.talked);
  for (let now = Math.min(until, call.talked); ; ) {
    now = Math.min(until, person.dueAfter(now));
    await timeline.wait(now - call.talked);
    if (!goesOn()) return;
    await person.reach(now);
    if (now >= until) return;
  }
};
