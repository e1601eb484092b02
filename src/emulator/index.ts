/**
 * The service on your own machine, as one fetch function: for development and tests.
 *
 * @module
 */

export type { Callee, CalleeAct, CalleeCall, CalleeScript } from "./callee/act.ts";
export { createEmulator, type Emulator } from "./emulator.ts";
export type {
  ActionEntry,
  CutEntry,
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
} from "./line/history.ts";
export type { Outcome } from "./line/outcome.ts";
export type { CallFacts, CallRecord } from "./line/record.ts";
export type { CallState, EndReason, FailureReason, Reason } from "./line/states.ts";
export type { Mishaps } from "./notify/mishaps.ts";
export type { EmulatorOptions, OnCall } from "./options.ts";
export type { Send } from "./outgoing.ts";
export type { CallAudio, HeardPiece } from "./recording/audio.ts";
export type { Cut, Voice } from "./recording/recording.ts";
