/**
 * The service on your own machine, as one fetch function: for development and tests.
 *
 * @module
 */

export type { Callee, CalleeAct, CalleeCall, CalleeScript } from "./callee.ts";
export { createEmulator, type Emulator } from "./emulator.ts";
export type {
  ActionEntry,
  CallFacts,
  CallRecord,
  CallState,
  CutEntry,
  EmulatorEvent,
  EndReason,
  ErrorEntry,
  FailureReason,
  FlowEntry,
  FlowErrorEntry,
  HistoryEntry,
  LegEntry,
  NotificationEntry,
  Reason,
  RecordingEntry,
  RefusedEvent,
  ServiceEvent,
  Stamp,
  StateEntry,
  StreamEntry,
  VerbEntry,
} from "./history.ts";
export type {
  EmulatedService,
  EmulatorOptions,
  Faults,
  OnCall,
  SocketConstructor,
} from "./options.ts";
export type { Send } from "./outgoing.ts";
export type { CallAudio, Cut, PlayedPiece, Side } from "./recording/recording.ts";
export { type ApiResponse, type Outcome, type Scenario, scenarios } from "./scenarios.ts";
