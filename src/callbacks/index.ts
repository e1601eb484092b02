/**
 * Receives what happens to a call: signed URLs, verification, events, and a handler of requests.
 *
 * @module
 */
export {
  type AnsweredEvent,
  type CompletedEvent,
  Event,
  type EventData,
  type EventOf,
  type EventStamp,
  type FailedEvent,
  type InitiatedEvent,
  type RingingEvent,
  type UnknownEvent,
  type Word,
} from "./event.ts";
export { type CallbackOptions, callbackHandler } from "./handler.ts";
export { byOccurrence, didRing, isFinal } from "./lifecycle.ts";
export { type Received, receive } from "./receive.ts";
export { type Refusal, RefusedException } from "./refused.ts";
export { type SignOptions, signUrl } from "./url/sign.ts";
export type { Context, Secret } from "./url/token.ts";
export { verifyUrl } from "./url/verify-url.ts";
export type { OnError } from "./verify/guard.ts";
export { type TimestampedHmac, timestampedHmac } from "./verify/timestamped.ts";
export type { Checks, Verification } from "./verify/verification.ts";
