/**
 * Receives what happens to a call: signed URLs, verification, events, and a handler of requests.
 *
 * @module
 */
export {
  type AnsweredEvent,
  type CompletedEvent,
  Event,
  type EventOf,
  type FailedEvent,
  type InitiatedEvent,
  type RingingEvent,
  type UnknownEvent,
} from "./event.ts";
export type { OnError } from "./guard.ts";
export { type CallbackOptions, callbackHandler } from "./handler.ts";
export { byOccurrence, didRing, isFinal } from "./lifecycle.ts";
export { type Received, receive } from "./receive.ts";
export { type Refusal, RefusedException } from "./refused.ts";
export { type SignOptions, signUrl } from "./sign.ts";
export type { Context, Secret } from "./token.ts";
export type { Checks, Verification } from "./verification.ts";
export { verifyUrl } from "./verify-url.ts";
