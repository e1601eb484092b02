import type { Call } from "../line/call.ts";
import type { Timeline } from "../line/clock/clock.ts";
import type { Leg } from "../line/line.ts";
import {
  type CallState,
  type Incident,
  type Reason,
  reasonOf,
  transitions,
} from "../line/states.ts";

/** The second leg of a call, by the same table as the call. It ends with the call at the latest. */
export class SecondLeg implements Leg {
  readonly timeline: Timeline;
  readonly #onState: (leg: SecondLeg) => void;
  #state: CallState = "initiated";
  #reason: Reason | undefined;

  constructor(call: Call, onState: (leg: SecondLeg) => void) {
    this.timeline = call.timeline;
    this.#onState = onState;
    onState(this);
    call.over.signal.addEventListener("abort", () => {
      if (!this.happen("normal")) this.happen("canceled");
    });
  }

  get state(): CallState {
    return this.#state;
  }

  get reason(): Reason | undefined {
    return this.#reason;
  }

  happen(incident: Incident): boolean {
    const state = transitions[this.#state][incident];
    if (!state) return false;
    this.#state = state;
    this.#reason = reasonOf(incident);
    this.#onState(this);
    return true;
  }
}
