import type { WireAction } from "../flows/wire.ts";
import type { Reason } from "../performer/line.ts";
import type { Side } from "../performer/media-socket.ts";
import type { CallFacts, FlowEntry, FlowErrorEntry, NewEntry } from "./history.ts";
import type { Reach } from "./outgoing.ts";

/** What a call is asked for with, whichever interface it came by. */
export interface RequestedCall
  extends Pick<CallFacts, "from_number" | "to_number" | "flow_url" | "status_callback_url"> {
  /** Whether it is recorded: by default it is. */
  readonly record?: boolean | undefined;
  /** What it does first, where that came with the request, in outdial's own interface. */
  readonly flow?: WireAction | undefined;
}

/** How long a call may ring and last, in milliseconds. */
export interface CallLimits {
  readonly answerTimeout?: number;
  readonly maxDuration?: number;
}

/** How an attempt to deliver a notification ended. */
export interface Delivery {
  /** Absent when no response came. */
  readonly status?: number | undefined;
  /** Why it was not delivered. */
  readonly error?: string | undefined;
  /** Whether it took too long. */
  readonly timedOut?: boolean | undefined;
}

/** The part of a notification that is the same at each attempt. */
export interface StoredMessage {
  readonly id: string;
  /** Its type. */
  readonly event: string;
  readonly url: string;
  readonly method: "GET" | "POST";
  /** Empty when the URL has everything. */
  readonly body: string;
  /** The headers that each attempt has; none by default. */
  readonly fixed?: Readonly<Record<string, string>> | undefined;
}

/** A notification, ready to be sent. */
export interface Message extends StoredMessage {
  /** The headers of an attempt: a signature may depend on the time, and be made by Web Crypto. */
  readonly headers: () =>
    | Readonly<Record<string, string>>
    | Promise<Readonly<Record<string, string>>>;
  /**
   * Milliseconds until the next attempt, after so many; `undefined` when there is none.
   *
   * @param delivery - how the latest attempt ended
   */
  readonly retryDelay: (attempts: number, delivery: Delivery) => number | undefined;
}

/** The part of a call that a recording has. Times are in milliseconds since the answer. */
export interface RecordedPart {
  /** The answer by default. */
  readonly from?: number;
  readonly to: number;
  /** Both by default. */
  readonly side?: Side | undefined;
  /** Where it is silent; by default where the call isn't recorded. */
  readonly gaps?: readonly { readonly from: number; readonly to: number }[] | undefined;
}

/** The audio that is kept of a call. Times are in milliseconds since the answer. */
export interface RecordedAudio {
  /** Records nothing until `resume`. */
  readonly pause: (now: number) => void;
  readonly resume: (now: number) => void;
  /** Makes a side silent from now on, or audible again. */
  readonly silence: (side: Side, isSilent: boolean, now: number) => void;
  /** When the callee was audible first and last in a stretch; `undefined` where they were silent. */
  readonly firstAudible: (from: number, to: number) => number | undefined;
  readonly lastAudible: (from: number, to: number) => number | undefined;
  /**
   * A response with a part as a WAV, or with what a player requests of it.
   *
   * @param range - the `Range` header
   * @param channels - 1: both sides in one; 2: callee left, application right
   */
  readonly download: (part: RecordedPart, range: string | null, channels: 1 | 2) => Response;
}

/**
 * Ends a call as its API asks for it: one that isn't answered yet fails as `canceled`.
 *
 * @returns whether it was live
 */
export const hangUp = (call: ServedCall): boolean =>
  call.transition("normal") || call.transition("canceled");

/**
 * Why the flow of a call failed, as the emulator's own field of the call says it: the last thing that went wrong, also where
 * `flowHandler` of this package has hung up.
 */
export const flowErrorOf = ({ flowFailures }: ServedCall): { readonly flow_error?: string } => {
  const last = flowFailures.at(-1);
  return last ? { flow_error: last.error.message } : {};
};

/** What could not be followed of a flow, and the last request to the application before it. */
export interface FlowFailure {
  readonly error: FlowErrorEntry;
  readonly asked: FlowEntry | undefined;
}

/** The most requests of one flow on outdial's own interface. */
export const mostSteps = 50;

/** Notes once that outdial's own interface would end the call, which a carrier doesn't. */
export const noteLength = (step: number, call: ServedCall): void => {
  if (step !== mostSteps + 1) return;
  const text = `The flow has more than ${mostSteps} actions: outdial's own interface ends such a call, and a carrier ends none, so a loop lasts as long as a call may.`;
  call.log({ type: "note", text });
};

/** A call that a service has accepted, as the interface that serves it knows it. */
export interface ServedCall {
  readonly id: string;
  readonly params: RequestedCall;
  readonly facts: CallFacts;
  readonly state: CallFacts["state"];
  readonly isOver: boolean;
  /** Where its URLs may lead. */
  readonly reach: Reach;
  /** Milliseconds from the answer to now, or to the end. */
  readonly talkTime: number;
  readonly timeline: {
    /** Milliseconds since 1970, by the call's clock. */
    now(): number;
    /** Calls a function after some milliseconds, unless the call is over before. */
    after(milliseconds: number, action: () => void): void;
  };
  readonly audio: RecordedAudio;
  /**
   * Ends the call for a reason.
   *
   * @returns whether it can end so in its state
   */
  readonly transition: (reason: Reason) => boolean;
  /** Presses keys for the callee to hear, at once; `p` is a pause. */
  readonly sendKeys: (keys: string) => void;
  /** What could not be followed of its flow so far, in order. */
  readonly flowFailures: readonly FlowFailure[];
  /** Adds an entry to the history. */
  readonly log: (entry: NewEntry) => void;
  /** Warns, once for each host, of a URL that is requested in plain text from another machine. */
  readonly warnOfPlain: (url: string) => void;
}
