/** What can be wrong with an agent. */
export type AgentProblem =
  | "agent_unreachable"
  | "agent_refused"
  | "agent_complained"
  | "agent_malformed";

const words: Readonly<Record<AgentProblem, string>> = {
  agent_unreachable: "The agent can't be reached",
  agent_refused: "The agent refused the connection",
  agent_complained: "The agent reported an error",
  agent_malformed: "The agent sent what makes no sense",
};

/** A word that a service has for something, rather than a sentence that may repeat what it was sent. */
const isWord = (value: unknown): boolean => /^[\w.:-]{1,64}$/.test(String(value ?? ""));

/**
 * Something is wrong with an agent. Neither its key nor its URL is ever in it, and no foreign error is
 * chained to it: an agent's own sentences may repeat what they were sent.
 */
export class AgentException extends Error {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "AgentException" as const;
  /** What is wrong. */
  readonly problem: AgentProblem;
  /** The agent's own word for it, such as `invalid_value`, or an HTTP status or close code. */
  declare readonly code?: string;

  /** Says what is wrong, in our own words. */
  constructor(problem: AgentProblem, code?: unknown) {
    const word = isWord(code) ? String(code) : undefined;
    super(words[problem] + (word ? `: ${word}` : ""));
    this.problem = problem;
    if (word) this.code = word;
  }
}
