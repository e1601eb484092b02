import { isText } from "../lib/check.ts";

/** What can be wrong with an agent. */
export type AgentProblem =
  | "agent_unreachable"
  | "agent_refused"
  | "agent_complained"
  | "agent_malformed"
  | "agent_failed"
  | "not_supported";

const messages: Readonly<Record<AgentProblem, string>> = {
  agent_unreachable: "The agent can't be reached",
  agent_refused: "The agent refused the connection",
  agent_complained: "The agent reported an error",
  agent_malformed: "The agent sent a malformed message",
  agent_failed: "The agent's adapter failed",
  not_supported: "The agent can't do this",
};

/**
 * A code: a constant in one case without a digit, or a status. Anything else may repeat what the service was sent: a
 * sentence, a key or a number.
 */
const isCode =
  /^(?=.{1,64}$)(?:[a-z]{1,20}(?:[._-][a-z]{1,20})*|[A-Z]{1,20}(?:_[A-Z]{1,20})*|\d{3,4})$/;

/**
 * An error of an agent. Neither its key nor its URL is ever in it, and no foreign error is its cause: an agent's own
 * sentences may repeat what they were sent.
 */
export class AgentException extends Error {
  /** The literal name of the class, kept in minified code. */
  override readonly name = "AgentException" as const;
  /** What is wrong. */
  readonly problem: AgentProblem;
  /**
   * The agent's own code, such as `invalid_value`, unless it holds a piece of the key; an HTTP status; or the function
   * of the adapter that failed.
   */
  declare readonly code?: string;

  /**
   * An exception with the message of its problem.
   *
   * @param code - left out unless it is a constant or a status
   */
  constructor(problem: AgentProblem, code?: unknown) {
    const given = isText(code) || typeof code === "number" ? String(code) : "";
    const isShown = isCode.test(given);
    super(messages[problem] + (isShown ? `: ${given}` : ""));
    this.problem = problem;
    if (isShown) this.code = given;
  }
}

/**
 * What a service writes, as a code or in words, when a repetition would be refused as well. The same words stand in
 * the code of an error and in the reason of a close. Gemini has close codes and sentences alone: 1007 "API key …", 1008, 1011 "… quota …".
 *
 * | refused | OpenAI | ElevenLabs | Deepgram |
 * |---|---|---|---|
 * | key, rights | `invalid_api_key`, `authentication_error`, `insufficient_permissions` | Could not authorize the conversation. | `INVALID_AUTH` |
 * | account | `account_deactivated`, `billing_not_active`, `access_terminated` | `payment_required` | |
 * | quota | `insufficient_quota`, `credit_balance_exhausted` | `quota_exceeded`, This request exceeds your quota limit., Agent has exceeded its daily call limit of 5. | |
 * | model, agent | `model_not_found`, `invalid_model` | The AI agent you are trying to reach does not exist (or: appears to be misconfigured) | `INVALID_AGENT_ID` |
 * | policy, unauthorized, forbidden | 1008, 3000, 3003: the close codes of anybody | 1008, 3000 | 1008 |
 * | settings | `beta_api_shape_disabled` | `override_error`, `missing_dynamic_variable` | `INVALID_SETTINGS`, `UNPARSABLE_CLIENT_MESSAGE` |
 */
const refused =
  /^(1008|300[03])|api.?key|auth|permission|deactivated|terminated|billing|payment|quota|credit|invalid_(model|agent)|model_not|not exist|misconfig|override|settings|unparsable/i;

/**
 * The same, before the agent is ready: then what was sent are its settings, and a close code of its own refuses, too. So
 * does 1007, with which Gemini closes when a setting is invalid.
 */
const refusedAtFirst = /^(1007|4\d{3}|invalid|unknown|missing|unsupported)/i;

/**
 * Whether a code or a sentence of a service says that a repetition would be refused as well.
 *
 * @param isReady - whether the agent has taken its settings
 */
export const isRefusal = (text: string, isReady = true): boolean =>
  refused.test(text) || (!isReady && refusedAtFirst.test(text));

/** What a close means. */
export interface CloseMeaning {
  readonly end: "agent_ended" | "agent_refused" | "session_limit" | "agent_lost";
  /** The service's own code: the constant with which the reason begins, else the close code; left out where there is no error. */
  readonly errorCode?: string | number | undefined;
}

/**
 * What the close of an agent's socket means.
 *
 * @param isWell - whether the agent's last response has not failed; left out before the agent is ready
 */
export const meaningOf = (code: number, reason: string, isWell?: boolean): CloseMeaning => {
  const errorCode = /^\W?(?:\w+\.)?([a-z]+_[a-z_]+)/i.exec(reason)?.[1] ?? code;
  if (/duration|session_expired/i.test(reason)) return { end: "session_limit", errorCode };
  const isOrderly = code === 1000 || code === 1005;
  if (isOrderly || code === 1001 || code === 1006) {
    return { end: isOrderly && isWell ? "agent_ended" : "agent_lost" };
  }
  const isRefused = isRefusal(`${code} ${reason}`, isWell !== undefined);
  return { end: isRefused ? "agent_refused" : "agent_lost", errorCode };
};
