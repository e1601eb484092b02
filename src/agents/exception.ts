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
