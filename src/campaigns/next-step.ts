import {
  type Disposition,
  dispositionOf,
  type Facts,
  firstOf,
  isRetryReason,
  isTalk,
  type RetryReason,
  retryReasons,
} from "./disposition.ts";

/** When another attempt follows on a reason, and how many there are. */
export interface RetryRule {
  /** Milliseconds from the end of the attempt to the next. */
  readonly after: number;
  /**
   * Attempts for the contact, whatever they ended by, the first one included; at most 100.
   *
   * @defaultValue 2
   */
  readonly attempts?: number | undefined;
}

/** A rule whose attempts are known. */
export interface WholeRetryRule {
  /** Milliseconds from the end of the attempt to the next. */
  readonly after: number;
  /** Attempts for the contact, the first one included. */
  readonly attempts: number;
}

/** The reasons that another attempt follows, each with its own delay and number of attempts. */
export type RetryRules = { readonly [Reason in RetryReason]?: RetryRule | undefined };

/** The options that decide whether another attempt follows. */
export interface Retries {
  readonly retryOn: readonly RetryReason[] | RetryRules;
  readonly retryDelay: number;
  readonly attempts?: number | undefined;
}

const ownAttempts = 2;

/** The rule of a reason, complete; `undefined` when no attempt follows on it. */
export const ruleOf = (
  { retryOn, retryDelay, attempts }: Retries,
  reason: string | undefined,
): WholeRetryRule | undefined => {
  if (!isRetryReason(reason)) return;
  if (Array.isArray(retryOn)) {
    return retryOn.includes(reason) ? { after: retryDelay, attempts: attempts ?? 1 } : undefined;
  }
  const rule = Object.entries(retryOn).find(([name]) => name === reason)?.[1];
  if (!rule) return;
  const most = Math.min(rule.attempts ?? ownAttempts, attempts ?? Number.POSITIVE_INFINITY);
  return { after: rule.after, attempts: most };
};

/** The rules that hold, complete. */
export type RetryPlan = { readonly [Reason in RetryReason]?: WholeRetryRule };

/** The rule of each reason that another attempt follows on. */
export const retriesOf = (retries: Retries): RetryPlan =>
  Object.fromEntries(
    retryReasons.flatMap((reason) => {
      const rule = ruleOf(retries, reason);
      return rule && rule.attempts > 1 ? [[reason, rule]] : [];
    }),
  );

/** What the next step of a contact depends on, beside the facts of its attempts. */
export interface Standing {
  readonly attempts: number;
  /** When the contact is to be called by the attempt `call_for`, in milliseconds since 1970. */
  readonly call_at: number | undefined;
  /** The attempt that the contact asked for, or that the list has a time for; 0 if none. */
  readonly call_for: number;
  /** How many attempts were added by call-backs. */
  readonly call_backs: number;
}

/** What allows another attempt. */
export interface Conditions extends Retries {
  /** Whether attempts may follow at all: the campaign has not ended, the list has the contact, and it was not erased. */
  readonly isOpen: boolean;
}

/** What follows on the attempts of a contact. */
export type NextStep =
  /** The end of the last one is not known. */
  | { readonly type: "open"; readonly state: "calling" | "unclear" }
  /** Another attempt, not before `due`, `wait` milliseconds after the last one. */
  | {
      readonly type: "attempt";
      readonly outcome: Disposition;
      readonly due: number;
      readonly wait: number;
    }
  /** None. */
  | {
      readonly type: "done";
      readonly outcome: Disposition;
      readonly disposition: Disposition;
    };

/** The facts of each attempt of a contact, by its number. */
export type AttemptFacts = ReadonlyMap<number, Facts>;

/** Whether the next attempt of a contact is one that it asked for, or that the list has a time for. */
export const hasCallBack = ({
  call_for,
  attempts,
}: Pick<Standing, "call_for" | "attempts">): boolean => call_for > attempts;

/** Whether the call of an open attempt is live, as far as is known. */
const openStateOf = ({ post }: Pick<Facts, "post">): "calling" | "unclear" =>
  post === "maybe" || post === "lost" ? "unclear" : "calling";

/** How the attempts since the last call-back ended, the last one included; those whose end is not known are none of them. */
const endsOf = ({ attempts, call_for }: Standing, facts: AttemptFacts): readonly Disposition[] => {
  const first = call_for > attempts ? 1 : Math.max(1, call_for);
  const ends: Disposition[] = [];
  for (const [attempt, each] of facts) {
    const disposition = attempt >= first && attempt <= attempts && dispositionOf(each);
    if (disposition) ends.push(disposition);
  }
  return ends;
};

/** Why a contact ended so, in the service's words about its last attempt. */
export const reasonOf = (
  { endedAs, reason, failure, detail }: Facts,
  disposition: Disposition,
): string | undefined => {
  if (disposition === "flow_error") return failure;
  if (disposition === "unknown") return reason ?? detail ?? failure;
  // That of another end would contradict the disposition.
  return endedAs === disposition || endedAs === "completed" ? reason : undefined;
};

/**
 * What follows on the attempts of a contact: it depends on what is known of them, and not on the order in which that
 * became known.
 */
export const nextStepOf = (
  contact: Standing,
  facts: AttemptFacts,
  at: number,
  conditions: Conditions,
): NextStep => {
  const last = facts.get(contact.attempts);
  const own = last && dispositionOf(last);
  if (!last || !own) return { type: "open", state: openStateOf(last ?? { post: undefined }) };
  const ends = endsOf(contact, facts);
  // Who was talked to by an earlier attempt after all was talked to.
  const outcome = ends.filter(isTalk).reduce(firstOf, own);
  const ended = last.ended ?? at;
  if (hasCallBack(contact)) {
    const due = Math.max(ended, contact.call_at ?? ended);
    return conditions.isOpen
      ? { type: "attempt", outcome, due, wait: due - ended }
      : { type: "done", outcome, disposition: "call_back_missed" };
  }
  const rule = ruleOf(conditions, outcome);
  const mayFollow = conditions.isOpen && ends.every((each) => ruleOf(conditions, each));
  if (rule && mayFollow && contact.attempts < rule.attempts + contact.call_backs) {
    return { type: "attempt", outcome, due: ended + rule.after, wait: rule.after };
  }
  return { type: "done", outcome, disposition: outcome };
};
