/**
 * The service on your own machine, as one fetch function: for development and tests.
 *
 * @module
 */
export type { Outcome } from "./destinations.ts";
export { createEmulator, type Emulator } from "./emulator.ts";
export type {
  ActionEntry,
  CallFacts,
  CallRecord,
  EmulatorEvent,
  ErrorEntry,
  FlowEntry,
  FlowErrorEntry,
  HistoryEntry,
  LegEntry,
  NotificationEntry,
  RecordingEntry,
  ServiceEvent,
  Stamp,
  StateEntry,
  StreamEntry,
} from "./history.ts";
export type { EmulatorOptions, OnCall } from "./options.ts";
export type { CallState, EndReason, FailureReason, Reason } from "./states.ts";
