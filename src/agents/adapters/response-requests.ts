import type { AgentMessage } from "../agent.ts";

/** When a response of the model is asked for. */
export interface ResponseRequests {
  /** The response that is being made; some gateways have no name for it. */
  readonly active: () => string | undefined;
  /** Remembers what is asked for, and returns it. */
  readonly ask: (request: AgentMessage) => readonly AgentMessage[];
  /** Remembers a text that the service says by itself once it has it, and returns it. */
  readonly say: (request: AgentMessage, id?: string) => readonly AgentMessage[];
  /** The service has the text. */
  readonly saying: () => void;
  /** A response has begun. Returns the id of the text that it says, if it says one. */
  readonly started: (response: string) => string | undefined;
  /** A response has ended. */
  readonly done: (response: string | undefined, hasFailed: boolean) => void;
  /** A result was sent. */
  readonly sent: (isReplyWanted: boolean) => void;
  /** The service has a result. */
  readonly acknowledged: () => void;
  /** A request was refused because of another response: one for a response to results is due again. */
  readonly refused: (isForResults: boolean) => void;
  /** The request for a response, if one is due; once. */
  readonly take: () => readonly AgentMessage[];
  /** The request for the response that has failed, unless another one has begun or a text is still to be said. */
  readonly retry: () => readonly AgentMessage[];
}

/** A request for a response, or a text with its id. */
interface Request {
  readonly message: AgentMessage;
  readonly id?: string | undefined;
}

/**
 * Asks for one response at a time, since another is refused. The service makes one by itself when the callee has
 * spoken.
 *
 * @param plain - the request for a response to what was said and to results
 */
export const createRequests = (plain: AgentMessage): ResponseRequests => {
  let active: string | undefined;
  /** What was asked for and has no response yet, and what the last response was asked for by. */
  let asked: Request | undefined;
  let last: Request | undefined;
  /** The text that was sent: a response that begins before the service has it is another. Then the next one says it. */
  let text: Request | undefined;
  let next: Request | undefined;
  /** Whether a result has no response yet. */
  let isDue = false;
  let hasTaken = false;
  /** Results that the service has not acknowledged: a response that begins before it has doesn't know them. */
  let unknown = 0;
  const ask = (message: AgentMessage): readonly AgentMessage[] => {
    asked = { message };
    return [message];
  };
  const say = (message: AgentMessage, id?: string): readonly AgentMessage[] => {
    text = { message, id };
    return [message];
  };
  return {
    active: () => active,
    ask,
    say,
    saying: () => {
      next = text;
      text = undefined;
    },
    started: (response) => {
      active = response;
      last = next ?? asked;
      asked = next = undefined;
      if (unknown === 0) isDue = false;
      return last?.id;
    },
    done: (response, hasFailed) => {
      if (response === active) active = undefined;
      // A service that doesn't report what it has may have said the text in it.
      if (!hasFailed) last = text = undefined;
    },
    sent: (isReplyWanted) => {
      unknown++;
      isDue ||= isReplyWanted;
    },
    acknowledged: () => {
      unknown = Math.max(0, unknown - 1);
    },
    refused: (isForResults) => {
      asked = undefined;
      isDue ||= isForResults && hasTaken;
    },
    take: () => {
      if (active !== undefined || !isDue) return [];
      isDue = false;
      hasTaken = true;
      return ask(plain);
    },
    retry: () => {
      if (active !== undefined || text || next) return [];
      const { message = plain, id } = asked ?? last ?? {};
      return id ? say(message, id) : ask(message);
    },
  };
};
