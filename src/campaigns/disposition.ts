/**
 * How a contact ended.
 *
 * | disposition | the contact |
 * |---|---|
 * | `completed` | answered, and the call has ended |
 * | `machine` | was a machine at the last attempt |
 * | `message_left` | was a machine at the last attempt, and the message was played to its end |
 * | `flow_error` | answered, and the call ended because its flow failed |
 * | `busy` | was busy at the last attempt |
 * | `no_answer` | did not answer the last attempt |
 * | `rejected` | rejected the last attempt |
 * | `unreachable` | could not be reached at the last attempt |
 * | `refused` | was refused by the service, which placed nothing, or by `prefixes` |
 * | `unknown` | may have been called, and no final notification came |
 * | `expired` | was not called before `until`, or had 20 answers that asked to wait while others were called |
 * | `canceled` | was not called before the campaign was canceled, or the call was canceled |
 * | `blocked` | is on the do-not-call list, or was erased before its turn |
 * | `placed` | was called; the notifications go elsewhere (`notified: false`) |
 *
 * {@link dispositions} has the same as data.
 */
export type Disposition =
  | "completed"
  | "machine"
  | "message_left"
  | "flow_error"
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

/** What a further attempt may follow on. */
export type RetryReason = "machine" | "busy" | "no_answer" | "rejected" | "unreachable";

/** What a disposition means. */
export interface DispositionFacts {
  /** The end of a sentence that begins with "The contact". */
  readonly meaning: string;
  /** Whether it is a `RetryReason`: another attempt may follow. */
  readonly retry: boolean;
}

/** A row of the table. */
interface Row extends DispositionFacts {
  /** The notifications that end a contact so by their `reason`. */
  readonly ends?: readonly string[];
}

type Table = {
  readonly [Name in Disposition]: Row & { readonly retry: Name extends RetryReason ? true : false };
};

const failed = ["call.failed"];

/** All that is known of each disposition, in the order of reports. */
const table: Table = {
  completed: { meaning: "answered, and the call has ended", retry: false },
  machine: { meaning: "was a machine at the last attempt", retry: true },
  message_left: {
    meaning: "was a machine at the last attempt, and the message was played to its end",
    retry: false,
  },
  flow_error: {
    meaning: "answered, and the call ended because its flow failed",
    retry: false,
    ends: ["call.completed", "call.failed"],
  },
  busy: { meaning: "was busy at the last attempt", retry: true, ends: failed },
  no_answer: { meaning: "did not answer the last attempt", retry: true, ends: failed },
  rejected: { meaning: "rejected the last attempt", retry: true, ends: failed },
  unreachable: { meaning: "could not be reached at the last attempt", retry: true, ends: failed },
  refused: {
    meaning: "was refused by the service, which placed nothing, or by `prefixes`",
    retry: false,
  },
  unknown: { meaning: "may have been called, and no final notification came", retry: false },
  expired: {
    meaning:
      "was not called before `until`, or had 20 answers that asked to wait while others were called",
    retry: false,
  },
  canceled: {
    meaning: "was not called before the campaign was canceled, or the call was canceled",
    retry: false,
    ends: failed,
  },
  blocked: { meaning: "is on the do-not-call list, or was erased before its turn", retry: false },
  placed: {
    meaning: "was called; the notifications go elsewhere (`notified: false`)",
    retry: false,
  },
};

/**
 * How a contact can end, and what that means, in the order of reports.
 *
 * @example Name each way to end
 * ```ts
 * import { dispositions } from "outdial/campaigns";
 *
 * const reasons = Object.entries(dispositions).filter(([, { retry }]) => retry);
 * console.log(reasons.map(([name]) => name).join(", ")); // machine, busy, no_answer, rejected, unreachable
 * ```
 */
export const dispositions: Readonly<Record<Disposition, DispositionFacts>> = table;

/**
 * Where a contact stands: it waits for its turn or its next attempt, is being called, may have been called, or
 * has ended.
 */
export type State = "waiting" | "calling" | "unclear" | Disposition;

export const isDisposition = (state: string): state is Disposition => Object.hasOwn(table, state);

/** All of them, in the order of reports. */
export const dispositionNames: readonly Disposition[] = Object.keys(table).filter(isDisposition);

/** All of them, in the order of reports. */
export const states: readonly State[] = ["waiting", "calling", "unclear", ...dispositionNames];

export const isState = (state: string): state is State => states.some((each) => each === state);

const isWhole = <T>(all: Readonly<Partial<Record<State, T>>>): all is Record<State, T> =>
  states.every((each) => Object.hasOwn(all, each));

/** A value for each state, in the order of reports. */
export const byState = <T>(of: (state: State) => T): Readonly<Record<State, T>> => {
  const all: Partial<Record<State, T>> = {};
  for (const each of states) all[each] = of(each);
  if (isWhole(all)) return all;
  throw new TypeError("a state has no value");
};

export const isRetryReason = (name: unknown): name is RetryReason =>
  typeof name === "string" && isDisposition(name) && table[name].retry;

/** All of them, in the order of reports. */
export const retryReasons: readonly RetryReason[] = dispositionNames.filter(isRetryReason);

/** What is known of who took an answered call. */
export interface Answerer {
  /** In the words of `EventData`. */
  readonly answered_by?: string | undefined;
  /** Whether somebody pressed a key. */
  readonly person?: boolean | undefined;
  /** Whether the message was spoken to its end. */
  readonly message?: boolean | undefined;
}

/** What a voice agent calls a machine, in the place of those words, by its speech. */
export const machineByAgent = "machine_by_agent";

/** Whether it is a machine, in the words of `EventData`. */
export const isMachine = (answered_by: string | undefined): boolean =>
  /^(machine|fax)/.test(answered_by ?? "");

/** How an answered call ended, by who took it: whoever pressed a key is a person, whatever the carrier detected. */
export const talkOf = ({
  answered_by,
  person,
  message,
}: Answerer): "completed" | "machine" | "message_left" => {
  if (person || answered_by === "human") return "completed";
  if (message) return "message_left";
  return isMachine(answered_by) ? "machine" : "completed";
};

/** The disposition of a contact after a final notification; a failure by another reason is `unreachable`. */
export const dispositionOf = (type: string, reason = "", answerer: Answerer = {}): Disposition => {
  if (isDisposition(reason) && table[reason].ends?.includes(type)) return reason;
  return type === "call.completed" ? talkOf(answerer) : "unreachable";
};
