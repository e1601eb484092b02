/**
 * Receives what happens to a call: signed URLs, verification, events.
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
