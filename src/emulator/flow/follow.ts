import type { Action } from "../../flows/action.ts";
import type { Call } from "../line/call.ts";
import { wordsOf } from "../words.ts";
import { askFlow } from "./ask.ts";
import { begin } from "./begin.ts";
import { dial } from "./dial.ts";
import { FlowError } from "./flow-error.ts";
import type { FlowParts, Perform, Step } from "./parts.ts";
import { play } from "./play.ts";
import { stream } from "./stream.ts";

const mostSteps = 50;

const hangup: Perform<Action> = async (step) => {
  begin(step);
  return undefined;
};

const perform = ({ call, action, step }: Step, parts: FlowParts): Promise<string | undefined> => {
  const at = { call, step, place: "" };
  switch (action.action) {
    case "play":
      return play({ ...at, action }, parts);
    case "stream":
      return stream({ ...at, action }, parts);
    case "dial":
      return dial({ ...at, action }, parts);
    case "hangup":
      return hangup({ ...at, action }, parts);
  }
};

/** Follows the flow of an answered call until it ends, or the call does. */
export const follow = async (call: Call, parts: FlowParts): Promise<void> => {
  let step = 1;
  try {
    for (let url: string | undefined = call.params.flow_url; url !== undefined; step++) {
      if (step > mostSteps)
        throw new FlowError(step, "flow_url", `is one of more than ${mostSteps}`);
      const action = await askFlow(call, url, step, parts);
      url = await perform({ call, action, step, place: "" }, parts);
      if (call.isOver) return;
    }
    call.happen("normal");
  } catch (error) {
    // What fails because the call is over is no error of the flow.
    if (call.isOver) return;
    const failure =
      error instanceof FlowError
        ? error
        : new FlowError(step, "flow_url", `failed: ${wordsOf(error)}`);
    call.note({
      type: "flow_error",
      step: failure.step,
      field: failure.field,
      message: failure.message,
    });
    call.fail(failure.message);
  }
};
