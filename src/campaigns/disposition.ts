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
 * | `call_back_missed` | was promised a call-back that can no longer be made: the campaign ended, or the list lacks the contact |
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
  | "call_back_missed"
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

/** How an attempt ended, by its notifications; `placed` and `unknown`: none will come, or none came. */
export type End =
  | "completed"
  | "canceled"
  | "rejected"
  | "busy"
  | "no_answer"
  | "unreachable"
  | "placed"
  | "unknown";

/** What is learned of an attempt. Each fact only grows, so the order in which they come does not matter. */
export interface News {
  /** When the first sign of an answer came, in milliseconds since 1970. */
  readonly answered?: number | undefined;
  /** Who took the call, in the words of `EventData`. */
  readonly answered_by?: string | undefined;
  /** Whether any key was pressed. */
  readonly person?: boolean | undefined;
  /** Whether the message was played to its end. */
  readonly message?: boolean | undefined;
  /** Whether the flow failed. */
  readonly failed?: boolean | undefined;
  /** Why it failed, in the service's words. */
  readonly failure?: string | undefined;
  /** How it ended. */
  readonly endedAs?: End | undefined;
  /** Why it ended so, in the service's words. */
  readonly reason?: string | undefined;
  /** When the first final notification came, in milliseconds since 1970. */
  readonly ended?: number | undefined;
  /** Milliseconds from the answer to the end. */
  readonly duration?: number | undefined;
}

/** What is known of an attempt. */
export interface Facts extends News {
  readonly person: boolean;
  readonly message: boolean;
  readonly failed: boolean;
  /**
   * What the POST brought; `undefined` before its answer. `no`: the claim was released. `lost`: its process was killed before the
   * answer, or before the POST.
   */
  readonly post: "placed" | "maybe" | "lost" | "no" | undefined;
  /** Why, in the words of the exception. */
  readonly detail: string | undefined;
}

/** What a voice agent calls a machine, in the place of the service's words, by its speech. */
export const machineByAgent = "machine_by_agent";

/** Whether it is a machine, in the words of `EventData`. */
export const isMachine = (answered_by: string | undefined): boolean =>
  /^(machine|fax)/.test(answered_by ?? "");

/** Who took a call. */
export type Answerer = "person" | "machine";

/** What shows that an attempt ended so. Of those that hold the lowest rank decides, whatever came first. */
type Proof = readonly [rank: number, holds: (facts: Facts) => boolean];

/**
 * What may follow once a contact has ended so: `news`, another end that becomes known of its attempts; `call-back`, an
 * attempt that the contact asks for. Whoever was talked to was, in any case.
 */
type Following = "news and call-back" | "news" | "call-back" | "nothing";

/** A row of the table: each place that must know a disposition reads it here. */
interface Row extends Pick<DispositionFacts, "retry"> {
  /** Who took the call; `undefined` if nobody did. */
  readonly answered: Answerer | "either" | undefined;
  readonly follows: Following;
  /** How the facts of an attempt show it; none where it is no attempt that ends so. */
  readonly proofs: readonly Proof[];
}

type Table = {
  readonly [Name in Disposition]: Row & { readonly retry: Name extends RetryReason ? true : false };
};

const isPerson = ({ person, answered_by }: Facts): boolean => person || answered_by === "human";

/** The row of a call that ended, or counts as one, without an answer. */
const unanswered = (rank: number, end: End) =>
  ({
    answered: undefined,
    follows: "news and call-back",
    proofs: [[rank, ({ endedAs }: Facts) => endedAs === end]],
  }) as const;

/** The row of a contact that waited in vain: no fact of an attempt shows it. */
const uncalled = { retry: false, answered: undefined, follows: "nothing", proofs: [] } as const;

/** The row of a call that was answered. */
const answered = { retry: false, follows: "news and call-back" } as const;

/** All that is known of each disposition, in the order of reports. */
const table: Table = {
  completed: {
    ...answered,
    answered: "person",
    proofs: [
      // A key was pressed, or a person was recognized.
      [4, isPerson],
      // It was answered, and no more is known.
      [7, (facts) => facts.endedAs === "completed" || facts.answered !== undefined],
    ],
  },
  machine: {
    ...answered,
    retry: true,
    answered: "machine",
    proofs: [[6, ({ answered_by }) => isMachine(answered_by)]],
  },
  message_left: {
    ...answered,
    answered: "machine",
    proofs: [[5, ({ message }) => message]],
  },
  flow_error: {
    ...answered,
    answered: "either",
    // Not where a message was left with a machine.
    proofs: [[3, (facts) => facts.failed && (isPerson(facts) || !facts.message)]],
  },
  busy: { retry: true, ...unanswered(10, "busy") },
  no_answer: { retry: true, ...unanswered(11, "no_answer") },
  rejected: { retry: true, ...unanswered(9, "rejected") },
  unreachable: { retry: true, ...unanswered(12, "unreachable") },
  refused: uncalled,
  unknown: { ...unanswered(1, "unknown"), retry: false, follows: "news" },
  expired: uncalled,
  canceled: { retry: false, ...unanswered(8, "canceled") },
  call_back_missed: { ...uncalled, follows: "call-back" },
  blocked: uncalled,
  placed: { ...unanswered(2, "placed"), retry: false, follows: "news" },
};

/** What each means: apart from the table, since a campaign that runs needs no texts. */
const meanings: Readonly<Record<Disposition, string>> = {
  completed: "answered, and the call has ended",
  machine: "was a machine at the last attempt",
  message_left: "was a machine at the last attempt, and the message was played to its end",
  flow_error: "answered, and the call ended because its flow failed",
  busy: "was busy at the last attempt",
  no_answer: "did not answer the last attempt",
  rejected: "rejected the last attempt",
  unreachable: "could not be reached at the last attempt",
  refused: "was refused by the service, which placed nothing, or by `prefixes`",
  unknown: "may have been called, and no final notification came",
  expired:
    "was not called before `until`, or had 20 answers that asked to wait while others were called",
  canceled: "was not called before the campaign was canceled, or the call was canceled",
  call_back_missed:
    "was promised a call-back that can no longer be made: the campaign ended, or the list lacks the contact",
  blocked: "is on the do-not-call list, or was erased before its turn",
  placed: "was called; the notifications go elsewhere (`notified: false`)",
};

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

const isWhole = <Name extends string, T>(
  names: readonly Name[],
  all: Readonly<Partial<Record<Name, T>>>,
): all is Record<Name, T> => names.every((each) => Object.hasOwn(all, each));

const recordOf = <Name extends string, T>(
  names: readonly Name[],
  of: (name: Name) => T,
): Readonly<Record<Name, T>> => {
  const all: Partial<Record<Name, T>> = {};
  for (const each of names) all[each] = of(each);
  if (isWhole<Name, T>(names, all)) return all;
  throw new TypeError("a name has no value");
};

/** A value for each state, in the order of reports. */
export const byState = <T>(of: (state: State) => T): Readonly<Record<State, T>> =>
  recordOf(states, of);

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
export const dispositions: Readonly<Record<Disposition, DispositionFacts>> = recordOf(
  dispositionNames,
  (name) => ({ meaning: meanings[name], retry: table[name].retry }),
);

export const isRetryReason = (name: unknown): name is RetryReason =>
  typeof name === "string" && isDisposition(name) && table[name].retry;

/** All of them, in the order of reports. */
export const retryReasons: readonly RetryReason[] = dispositionNames.filter(isRetryReason);

/** Whether somebody, or something, answered, and no retry follows on it. */
export const isTalk = (name: Disposition): boolean => !!table[name].answered && !table[name].retry;

/** Whether somebody answered, as far as is known: who did keeps that, also on the do-not-call list. */
export const isAnswer = (name: Disposition): boolean =>
  isTalk(name) && table[name].answered !== "machine";

/** Whether a call shows that flows work, or fail; `undefined` if it shows nothing. */
export const isFlowWorking = (name: Disposition): boolean | undefined =>
  table[name].answered && name !== "flow_error";

/** Whether a contact stays so, whatever becomes known of its attempts. */
export const isClosed = (state: State): boolean =>
  isDisposition(state) && !table[state].follows.startsWith("news");

/** Whether a contact that has ended so may be called once more because it asked for that. */
export const mayCallBack = (name: Disposition): boolean =>
  table[name].follows.endsWith("call-back");

/** The proofs of all dispositions, in the order of their ranks. */
export const proofs: readonly (readonly [...Proof, disposition: Disposition])[] = dispositionNames
  .flatMap((name) => table[name].proofs.map((proof) => [...proof, name] as const))
  .sort(([one], [other]) => one - other);

const provenBy = (facts: Facts): Disposition | undefined =>
  proofs.find(([, holds]) => holds(facts))?.[2];

/** How an attempt ended, by all that is known of it; `undefined` while its end is not known. */
export const dispositionOf = (facts: Facts): Disposition | undefined =>
  facts.endedAs && provenBy(facts);

/** Who took the call of an attempt, whether its flow failed or not; while it is live, if anything is known of that. */
export const answererOf = (facts: Facts): Answerer | undefined => {
  const { endedAs, answered, answered_by, ended, failed } = facts;
  const hasAnswered = ended !== undefined && (failed || answered !== undefined);
  const isKnown = endedAs === "completed" || answered_by !== undefined || hasAnswered;
  const proven = provenBy({
    ...{ ...facts, failed: false, answered: undefined },
    endedAs: isKnown ? "completed" : undefined,
  });
  const who = proven && table[proven].answered;
  return who === "either" ? undefined : who;
};

/** Of two, the one that stands for both: the first in the order of reports. */
export const firstOf = (one: Disposition, other: Disposition): Disposition =>
  dispositionNames.indexOf(one) < dispositionNames.indexOf(other) ? one : other;
