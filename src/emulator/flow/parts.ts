import type { Action } from "../../flows/action.ts";
import type { Call } from "../line/call.ts";
import type { Ask } from "../outgoing.ts";
import type { NewId } from "../random.ts";

/** What the flow follower needs of the rest of the emulator. */
export interface FlowParts {
  readonly accountId: string;
  readonly ask: Ask;
  readonly newId: NewId;
  /** The platform's WebSocket client; `undefined` where there is none. */
  readonly WebSocket: (new (url: string) => WebSocket) | undefined;
  /** Milliseconds on the wall for anything that an application has to answer. */
  readonly respondWithin: number;
  /** Milliseconds of ringing. */
  readonly ringFor: number;
}

/** One action of one call, and where the flow stands. */
export interface Step<A extends Action = Action> {
  readonly call: Call;
  readonly action: A;
  /** Counts the requests to the flow from 1. */
  readonly step: number;
  /** Where the action is in what the flow answered: empty, or such as `on_busy.`. */
  readonly place: string;
}

/** Does an action, and gives where to ask for the next one, if there is one. */
export type Perform<A extends Action> = (
  step: Step<A>,
  parts: FlowParts,
) => Promise<string | undefined>;
