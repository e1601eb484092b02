/**
 * The service on your own machine, as one fetch function: for development and tests.
 *
 * {@link createEmulator} accepts calls, rings, answers, requests your flow, sends notifications and streams audio. With the
 * instant clock a call takes no real time. The dialled number selects one of the {@link scenarios}, such as busy or a lost
 * response. It can also be Twilio, Vonage or Telnyx.
 *
 * @see docs/emulator.md
 *
 * @module
 */

export type { WireAction, WireGather, WirePrompt, WireRecord, WireSay } from "../flows/wire.ts";
export type { VirtualClock } from "../lib/clock.ts";
export type {
  ActionEntry,
  CallFacts,
  CallRecord,
  CallState,
  Cut,
  CutEntry,
  Doing,
  EmulatorEvent,
  EndReason,
  ErrorEntry,
  FailureReason,
  FlowEntry,
  FlowErrorEntry,
  HistoryEntry,
  LegEntry,
  NoteEntry,
  NotificationEntry,
  Played,
  PressEntry,
  Reason,
  RecordingEntry,
  RefusedEvent,
  SayEntry,
  ServiceEvent,
  Stamp,
  StateEntry,
  StreamEntry,
  VerbEntry,
} from "../server/history.ts";
export type { Send } from "../server/outgoing.ts";
export type { Callee, CalleeAct, CalleeCall, CalleeScript, Voice } from "./callee-script.ts";
export { createEmulator, type Emulator } from "./emulator.ts";
export type {
  EmulatedService,
  EmulatorOptions,
  Faults,
  OnCall,
  SocketConstructor,
} from "./options.ts";
export type { CallAudio, PlayedPiece, Side } from "./recording/recording.ts";
export { type ApiResponse, type Outcome, type Scenario, scenarios } from "./scenarios.ts";
