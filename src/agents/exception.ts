/** What can be wrong with an agent. */
export type AgentProblem =
  | "agent_unreachable"
  | "agent_refused"
  | "agent_complained"
  | "agent_malformed"
  | "agent_failed";

const words: Readonly<Record<AgentProblem, string>> = {
  agent_unreachable: "The agent can't be reached",
  agent_refused: "The agent refused the connection",
  agent_complained: "The agent reported an error",
  agent_malformed: "The agent sent what makes no sense",
  agent_failed: "The agent's adapter failed",
};

/**
 * A word that a service has for something, in one case and without a digit, or a status: rather than a
 * sentence, a key or a number, which may be what it was sent.
 */
const word =
  /^(?=.{1,64}$)(?:[a-z]{1,20}(?:[._-][a-z]{1,20})*|[A-Z]{1,20}(?:_[A-Z]{1,20})*|\d{3,4})$/;

/**
 * Something is wrong with an agent. Neither its key nor its URL is ever in it, and no foreign error is
 * chained to it: an agent's own sentences may repeat what they were sent.
 */
export class AgentException extends Error {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "AgentException" as const;
  /** What is wrong. */
  readonly problem: AgentProblem;
  /**
   * The agent's own word for it, such as `invalid_value`, unless it holds some of the key; an HTTP status; or
   * the function of the adapter that failed.
   */
  declare readonly code?: string;

  /** Says what is wrong, in our own words. */
  constructor(problem: AgentProblem, code?: unknown) {
    const told = typeof code === "string" || typeof code === "number" ? String(code) : "";
    const isWord = word.test(told);
    super(words[problem] + (isWord ? `: ${told}` : ""));
    this.problem = problem;
    if (isWord) this.code = told;
  }
}
