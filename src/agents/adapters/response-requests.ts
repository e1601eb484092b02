import type { AgentMessage } from "../agent.ts";

/** When a response of the model is asked for. */
export interface ResponseRequests {
  /** The response that is being made; some gateways have no name for it. */
  readonly active: () => string | undefined;
  /** Remembers what is asked for, and returns it. */
  readonly ask: (request: AgentMessage) => readonly AgentMessage[];
  /** A response has begun. Returns the id of its request, where the service doesn't. */
  readonly started: (response: string) => string | undefined;
  /** A response has ended. */
  readonly done: (response: string | undefined, hasFailed: boolean) => void;
  /** A result was sent. */
  readonly sent: (isReplyWanted: boolean) => void;
  /** The service has an item of this type, such as a result. */
  readonly acknowledged: (type: unknown) => void;
  /** A request was refused because of another response: one for a response to results is due again. */
  readonly refused: (isForResults: boolean) => void;
  /** The request for a response, if one is due; once. */
  readonly take: () => readonly AgentMessage[];
  /** The request for the response that has failed, unless another one has begun. */
  readonly retry: () => readonly AgentMessage[];
}

/**
 * Asks for one response at a time, since another is refused. The service makes one by itself when the callee has
 * spoken.
 *
 * @param plain - the request for a response to what was said and to results
 */
export const createRequests = (plain: AgentMessage): ResponseRequests => {
  let active: string | undefined;
  /** The request that has no response yet, and the request of the last response. */
  let asked: AgentMessage | undefined;
  let last = plain;
  /** Whether a result has no response yet. */
  let isDue = false;
  let hasTaken = false;
  /** Results that the service has not acknowledged: a response that begins before it has doesn't know them. */
  let unknown = 0;
  const ask = (request: AgentMessage): readonly AgentMessage[] => {
    asked = request;
    return [request];
  };
  return {
    active: () => active,
    ask,
    started: (response) => {
      active = response;
      last = asked ?? plain;
      asked = undefined;
      if (unknown === 0) isDue = false;
      return undefined;
    },
    done: (response, hasFailed) => {
      if (response === active) active = undefined;
      if (!hasFailed) last = plain;
    },
    sent: (isReplyWanted) => {
      unknown++;
      isDue ||= isReplyWanted;
    },
    acknowledged: (type) => {
      if (type === "function_call_output") unknown = Math.max(0, unknown - 1);
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
    retry: () => (active === undefined ? ask(asked ?? last) : []),
  };
};
