/**
 * How a contact ended.
 *
 * | disposition | the contact |
 * |---|---|
 * | `completed` | answered, and the call has ended |
 * | `busy`, `no_answer`, `rejected`, `unreachable` | didn't answer at the last attempt |
 * | `refused` | was refused by the service (nothing was placed), or by `prefixes` |
 * | `unknown` | may have been called, and no final notification came |
 * | `expired` | wasn't called before `until`, or had 20 answers that asked to wait while others were called |
 * | `canceled` | wasn't called before the campaign was canceled, or its call was canceled |
 * | `blocked` | is on the do-not-call list, or was erased before its turn |
 * | `placed` | was called; its notifications go elsewhere (`notified: false`) |
 */
export type Disposition =
  | "completed"
  | "busy"
  | "no_answer"
  | "rejected"
  | "unreachable"
  | "refused"
  | "unknown"
  | "expired"
  | "canceled"
  | "blocked"
  | "placed";

/** Where a contact stands: it waits for its turn or its next attempt, is being called, or has ended. */
export type State = "waiting" | "calling" | Disposition;

/** The dispositions that a failed call has by its own reason; another reason counts as `unreachable`. */
const failed: ReadonlySet<string> = new Set([
  "busy",
  "no_answer",
  "rejected",
  "unreachable",
  "canceled",
]);

/** No contact has ended in any way. In the order of reports. */
export const noneEnded: Readonly<Record<Disposition, number>> = {
  completed: 0,
  busy: 0,
  no_answer: 0,
  rejected: 0,
  unreachable: 0,
  refused: 0,
  unknown: 0,
  expired: 0,
  canceled: 0,
  blocked: 0,
  placed: 0,
};

export const isDisposition = (state: string): state is Disposition =>
  Object.hasOwn(noneEnded, state);

/** All of them, in the order of reports. */
export const dispositions: readonly Disposition[] = Object.keys(noneEnded).filter(isDisposition);

const isFailure = (reason: string): reason is Disposition => failed.has(reason);

/** The disposition of a contact after a final notification. */
export const dispositionOf = (type: string, reason = ""): Disposition => {
  if (type === "call.completed") return "completed";
  return isFailure(reason) ? reason : "unreachable";
};
