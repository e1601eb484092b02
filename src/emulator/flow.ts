import { FlowError, type Line } from "../performer/line.ts";
import { messageOf } from "../server/outgoing.ts";
import type { ResponseRule } from "./api-responses.ts";
import type { Call } from "./call.ts";
import type { Callee } from "./callee-script.ts";
import type { OnCall } from "./options.ts";
import type { FlowParts } from "./simulated-line.ts";

/** The telephones that calls ring: simulated ones, or those that an exchange reaches. */
export interface Telephones {
  /** How the API responds to the requests for a call of a number. */
  readonly responseTo: (to_number: string) => ResponseRule;
  /** Rings the callee's telephone, and moves the call along until it is answered or has failed. */
  readonly ring: (call: Call, parts: CallParts) => Promise<void>;
  /** The line of an answered call. */
  readonly lineOf: (call: Call, parts: FlowParts) => Line;
}

/** What a call needs of the emulator. */
export interface CallParts extends FlowParts {
  readonly telephones: Telephones;
  /** Milliseconds from the answer, at most; the request for the call may have a shorter limit. */
  readonly maxDuration?: number | undefined;
  readonly callee?: Callee | undefined;
  readonly onCall?: OnCall | undefined;
  /**
   * Follows the flow of an answered call until the flow or the call ends.
   *
   * @throws {FlowError} when it can't be followed
   */
  readonly follow: (call: Call, parts: FlowParts) => Promise<void>;
}

/** Follows the flow of an answered call, and ends the call with it. */
const followFlow = async (call: Call, { follow, ...parts }: CallParts): Promise<void> => {
  try {
    await follow(call, parts);
    call.transition("normal");
  } catch (error) {
    // A failure because the call is over is not an error of the flow.
    if (call.isOver) return;
    const { step, field, message, code } =
      error instanceof FlowError
        ? error
        : new FlowError(1, "flow_url", `failed: ${messageOf(error)}`);
    call.log({ type: "flow_error", step, field, message, ...(code !== undefined && { code }) });
    call.fail(message);
  }
};

/** How long a call without a limit may last, in milliseconds. */
const longestCall = 3_600_000;

/** How long a call may last, in milliseconds: the shorter of the limits of the service and of the request. */
export const longestOf = (
  { limits }: Pick<Call, "limits">,
  { maxDuration }: Pick<CallParts, "maxDuration">,
): number => {
  const both = [maxDuration, limits.maxDuration].filter((limit) => limit !== undefined);
  return both.length > 0 ? Math.min(...both) : longestCall;
};

/** Runs a call from dialling to its end. */
export const runCall = async (call: Call, parts: CallParts): Promise<void> => {
  await parts.telephones.ring(call, parts);
  if (call.state !== "answered") return;
  call.timeline.after(longestOf(call, parts), () => call.transition("max_duration"));
  await followFlow(call, parts);
};
