import { isRetryReason, type RetryReason, retryReasons } from "./disposition.ts";

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
