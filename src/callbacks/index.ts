/**
 * Receives status notifications: signed URLs, verification, events, and a handler of requests.
 *
 * {@link signUrl} signs the `status_callback_url` and the `flow_url` of a call, with a context of yours. {@link callbackHandler}
 * is a function from a `Request` to a `Response`: it verifies the sender, and gives your function the event and that context.
 * {@link receive} does the same without creating the response.
 *
 * @see docs/callbacks.md
 *
 * @module
 */
export { type Refusal, RefusedException } from "./errors.ts";
export {
  type AnsweredBy,
  type AnsweredEvent,
  byOccurrence,
  CallEvent,
  type CallEventOf,
  type CompletedEvent,
  didRing,
  type EventData,
  type EventStamp,
  type FailedEvent,
  type InitiatedEvent,
  isFinal,
  type MachineDetectedEvent,
  type OpenUnion,
  type OtherType,
  type RingingEvent,
  type UnknownEvent,
} from "./event.ts";
export { type CallbackOptions, callbackHandler, type Received, receive } from "./handler.ts";
export { type Context, type Secret, type SignOptions, signUrl, verifyUrl } from "./signed-url.ts";
export { type TimestampedHmac, timestampedHmac } from "./timestamped-hmac.ts";
export type { Checks, OnError, Verification } from "./verify.ts";
