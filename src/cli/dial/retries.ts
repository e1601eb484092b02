import {
  dispositions,
  type RetryPlan,
  type RetryReason,
  type RetryRules,
} from "../../campaigns/index.ts";
import { UsageError } from "../command.ts";
import { durationOf, durationText } from "./durations.ts";

const isRetryReason = (name: string): name is RetryReason =>
  Object.entries(dispositions).some(([each, { retry }]) => retry && each === name);

/** The reasons that another attempt may follow. */
export const retryReasons: readonly RetryReason[] = Object.keys(dispositions).filter(isRetryReason);

/** @throws {UsageError} if one of them is none */
export const retryOnOf = (text: string): readonly RetryReason[] => {
  const names = text.split(",").map((name) => name.trim());
  if (names.every(isRetryReason)) return names;
  throw new UsageError(`--retry-on takes ${retryReasons.join(", ")}`);
};

/** The most attempts of a contact. */
const mostAttempts = 100;

const rule = `--retry must be reasons, each with a delay and the contact's attempts, such as busy:5m:3,no_answer:2h; the reasons are ${retryReasons.join(", ")}`;

/**
 * The rules of `busy:5m:3,no_answer:2h`: a reason, the time until the next attempt, and how many attempts there are, the
 * first included.
 *
 * @throws {UsageError}
 */
export const retryRulesOf = (texts: readonly string[]): RetryRules => {
  const rules: { [Reason in RetryReason]?: { after: number; attempts?: number } } = {};
  for (const text of texts.flatMap((each) => each.split(","))) {
    const [, reason = "", delay = "", number] =
      /^\s*(\w+):(\w+)(?::(\d{1,3}))?\s*$/.exec(text) ?? [];
    const attempts = number === undefined ? undefined : Number(number);
    const isRule = isRetryReason(reason) && (attempts ?? 1) >= 1 && (attempts ?? 1) <= mostAttempts;
    if (!isRule) throw new UsageError(rule);
    if (rules[reason]) throw new UsageError(`--retry names ${reason} twice`);
    // "busy:5:3" is 5 minutes to most people, and would be 5 seconds.
    if (/^\d+$/.test(delay)) {
      throw new UsageError(`--retry: the delay of ${reason} needs a unit, such as ${delay}m`);
    }
    const after = durationOf("retry", delay);
    rules[reason] = { after, ...(attempts !== undefined && { attempts }) };
  }
  return rules;
};

/** When contacts are called again, for the plan; empty if nobody is. */
export const retriesText = (retries: RetryPlan): string => {
  const rules = Object.entries(retries).map(
    ([reason, { after, attempts }]) =>
      `${reason} after ${durationText(after / 1000)}, up to ${attempts} attempts`,
  );
  return rules.length > 0 ? `called again: ${rules.join("; ")}` : "";
};
