import type { AgentMessage } from "../agent.ts";

/** Errors of the service that another response may not have. */
const transient = /^(server_error|rate_limit_exceeded)$/;

/** How many responses in a row may be lost by such errors and are asked for again. */
const maxRetries = 2;

/** When a response of the model is asked for. */
export interface ResponseRequests {
  /** The response that is being made; some gateways have no name for it. */
  readonly active: () => string | undefined;
  /** A response has begun. */
  readonly started: (response: string) => void;
  /** A response has ended: why it failed, unless it didn't. */
  readonly done: (response: string | undefined, failure: string | undefined) => void;
  /** A result was sent. */
  readonly sent: (isReplyWanted: boolean) => void;
  /** The service has a result. */
  readonly acknowledged: () => void;
  /** A request was refused because of another response, which did not know the results. */
  readonly refused: () => void;
  /** The request for a response, if one is due; once. */
  readonly take: () => readonly AgentMessage[];
}

/**
 * Asks for one response at a time, since another is refused. The service makes one by itself when the callee has
 * spoken.
 *
 * @param first - the request that begins the conversation, which is repeated if its response is lost
 * @param plain - all others
 */
export const createRequests = (first: AgentMessage, plain: AgentMessage): ResponseRequests => {
  let next = first;
  let active: string | undefined;
  /** Whether a result or a lost response has no response yet. */
  let isDue = false;
  let hasAsked = false;
  /** Results that the service has not acknowledged: a response that begins before it has doesn't know them. */
  let unknown = 0;
  let retries = 0;
  return {
    active: () => active,
    started: (response) => {
      active = response;
      if (unknown === 0) isDue = false;
    },
    done: (response, failure) => {
      if (response === active) active = undefined;
      if (failure === undefined) {
        next = plain;
        retries = 0;
      } else if (transient.test(failure) && retries++ < maxRetries) isDue = true;
    },
    sent: (isReplyWanted) => {
      unknown++;
      isDue ||= isReplyWanted;
    },
    acknowledged: () => {
      unknown = Math.max(0, unknown - 1);
    },
    refused: () => {
      isDue ||= hasAsked;
    },
    take: () => {
      if (active !== undefined || !isDue) return [];
      isDue = false;
      hasAsked = true;
      return [next];
    },
  };
};
