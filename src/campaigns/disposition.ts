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
 * | `skipped` | is on the do-not-call list, or was erased before its turn |
 * | `placed` | was called; what became of it is told elsewhere (`notified: false`) |
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
  | "skipped"
  | "placed";

/** Where a contact stands: it waits for its turn or its next attempt, is being called, or has ended. */
export type State = "waiting" | "calling" | Disposition;

/** The dispositions that a failed call has by its own reason; another reason counts as `unreachable`. */
const failed: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "busy",
  "no_answer",
  "rejected",
  "unreachable",
  "canceled",
]);

const known = {
  completed: true,
  busy: true,
  no_answer: true,
  rejected: true,
  unreachable: true,
  refused: true,
  unknown: true,
  expired: true,
  canceled: true,
  skipped: true,
  placed: true,
} satisfies Record<Disposition, true>;

export const isDisposition = (state: string): state is Disposition => Object.hasOwn(known, state);

/** All of them, in the order in which they are told. */
export const dispositions: readonly Disposition[] = /* @__PURE__ */ Object.keys(known).filter(
  isDisposition,
);

const isFailure = (reason: string): reason is Disposition => failed.has(reason);

/** What a final notification says of the contact. */
export const dispositionOf = (type: string, reason = ""): Disposition => {
  if (type === "call.completed") return "completed";
  return isFailure(reason) ? reason : "unreachable";
};
