import type { EventData } from "../callbacks/event.ts";
import { fieldsOf, isText } from "../lib/check.ts";
import type { AnyAction, Branch, Dial } from "./actions.ts";
import type { FlowRequest } from "./request.ts";

/** What came of the second leg of a call, which a `dial` has added. */
export interface Dialed {
  /** `"completed"`: somebody answered, and the conversation is over. `"failed"`: nobody was reached. */
  readonly state: "completed" | "failed";
  /** Why it is over, in the words of the events: `"normal"`, `"busy"`, `"no_answer"`, … */
  readonly reason?: EventData["reason"];
  /** Whole seconds of conversation, where the service says it. */
  readonly duration?: number | undefined;
}

/** What follows a `dial`, as a URL of the flow's own carries it. */
export interface AfterDial extends Pick<Dial<string>, Branch | "next" | "flow_url"> {
  /** The call itself, where the requests that come to that URL are about another leg. */
  readonly call?: Pick<FlowRequest, "call_id" | "from_number" | "to_number"> | undefined;
  /** What came of it, where the requests that come to that URL don't say it. */
  readonly dialed?: Dialed | undefined;
}

/** What came of a `dial`, out of a flow request; `undefined` where it doesn't say it. */
export const dialedIn = (dialed: unknown): Dialed | undefined => {
  const { state, reason, duration } = fieldsOf(dialed);
  if (state !== "completed" && state !== "failed") return;
  return {
    state,
    ...(isText(reason) && { reason }),
    ...(Number.isInteger(duration) && { duration: Number(duration) }),
  };
};

/** The branch of a `dial` by the reason why nobody was reached. */
const branches: ReadonlyMap<unknown, Branch> = new Map([
  ["busy", "on_busy"],
  ["no_answer", "on_no_answer"],
  ["rejected", "on_failure"],
  ["unreachable", "on_failure"],
]);

/** What follows a `dial` by what came of it: an action, or a step; `undefined` where only its `flow_url` does. */
export const followingDial = (
  after: AfterDial,
  dialed: Dialed | undefined,
): AnyAction | string | undefined => {
  const branch = branches.get(dialed?.reason);
  return (branch && after[branch]) ?? after.next;
};
