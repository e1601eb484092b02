import type { Dial } from "../../flows/action.ts";
import { destinationOf } from "../line/destinations.ts";
import { callUp } from "../line/line.ts";
import type { Reason } from "../line/states.ts";
import { begin } from "./begin.ts";
import { elapse } from "./elapse.ts";
import type { Perform } from "./parts.ts";
import { play } from "./play.ts";
import { SecondLeg } from "./second-leg.ts";

/** Milliseconds that the two talk, if nobody hangs up. */
const talk = 5_000;

/** Stands for their voices in the recording. */
const hertz = 520;

/** What a flow may have said for each way in which the second leg fails. */
const branches: Readonly<Partial<Record<Reason, "on_busy" | "on_no_answer" | "on_failure">>> = {
  busy: "on_busy",
  no_answer: "on_no_answer",
  rejected: "on_failure",
  unreachable: "on_failure",
};

/** Calls somebody else, by the same rules as a call, and connects the two for a while. */
export const dial: Perform<Dial> = async (dialling, parts) => {
  const { call, action, step } = dialling;
  const { to, timeout = 30, record = false, flow_url } = action;
  begin(dialling);
  const leg = new SecondLeg(call, ({ state, reason }) =>
    call.note({ type: "leg", step, to, state, ...(reason && { reason }) }),
  );
  const { outcome } = destinationOf(to);
  await callUp(leg, outcome, { ringFor: parts.ringFor, answerWithin: timeout * 1000 });
  if (leg.state === "answered") {
    const from = call.talked;
    const { hangUpAfter = talk } = outcome.outcome === "answer" ? outcome : {};
    if (!record) call.recording.pause(from);
    const until = from + (hangUpAfter === "midway" ? talk / 2 : hangUpAfter);
    const voices = call.recording.media.tone(hertz, from, until);
    await elapse(call, until);
    leg.happen("normal");
    voices.to = call.talked;
    if (!record) call.recording.resume(call.talked);
  }
  const branch = leg.reason && branches[leg.reason];
  const instead = branch && action[branch];
  if (!instead || call.isOver) return flow_url;
  if (instead.action === "hangup") return;
  return play({ call, action: instead, step, place: `${branch}.` }, parts);
};
