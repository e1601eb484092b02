/** Where a call, or a second leg that a flow dials, stands. */
export type CallState = "initiated" | "ringing" | "answered" | "completed" | "failed";

/** Why a call failed before anyone answered. */
export type FailureReason = "busy" | "no_answer" | "rejected" | "unreachable" | "canceled";

/** Why an answered call ended. */
export type EndReason = "normal" | "flow_error" | "max_duration";

/** Why a call is over. */
export type Reason = FailureReason | EndReason;

/** What can befall a call: the reasons are themselves the events that end it. */
export type Incident = "ring" | "answer" | Reason;

const failures = {
  busy: "failed",
  no_answer: "failed",
  rejected: "failed",
  unreachable: "failed",
  canceled: "failed",
} as const;

/** Every transition that exists. */
export const transitions: Readonly<
  Record<CallState, Readonly<Partial<Record<Incident, CallState>>>>
> = {
  initiated: { ring: "ringing", ...failures },
  ringing: { answer: "answered", ...failures },
  answered: { normal: "completed", flow_error: "completed", max_duration: "completed" },
  completed: {},
  failed: {},
};

/** Whether nothing more can happen. */
export const isOver = (state: CallState): boolean => state === "completed" || state === "failed";

/** The reason in an incident, when it is one. */
export const reasonOf = (incident: Incident): Reason | undefined =>
  incident === "ring" || incident === "answer" ? undefined : incident;
