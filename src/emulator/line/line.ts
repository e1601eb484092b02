import type { Timeline } from "./clock/clock.ts";
import type { Outcome } from "./outcome.ts";
import type { CallState, Incident } from "./states.ts";

/** A call, or the second leg that a flow dials. */
export interface Leg {
  readonly state: CallState;
  readonly timeline: Timeline;
  readonly happen: (incident: Incident) => boolean;
}

/** How long it rings, in milliseconds. */
export interface Ringing {
  readonly ringFor: number;
  /** The most. */
  readonly answerWithin: number;
}

const incidents = { answer: "answer", reject: "rejected" } as const;

/** Calls a telephone, up to the answer or the failure, whichever comes of it. */
export const callUp = async (leg: Leg, outcome: Outcome, ringing: Ringing): Promise<void> => {
  if (outcome.outcome === "busy" || outcome.outcome === "unreachable") {
    leg.happen(outcome.outcome);
    return;
  }
  leg.happen("ring");
  const { answerWithin } = ringing;
  if (outcome.outcome === "no_answer") {
    await leg.timeline.wait(outcome.ringFor ?? answerWithin);
    leg.happen("no_answer");
    return;
  }
  const { ringFor = ringing.ringFor } = outcome;
  await leg.timeline.wait(Math.min(ringFor, answerWithin));
  // Nothing happens if it has been decided from outside in the meantime.
  leg.happen(ringFor <= answerWithin ? incidents[outcome.outcome] : "no_answer");
};
