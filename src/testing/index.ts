/**
 * Simulated calls and virtual time, for tests: {@link simulateCall} connects an application to a caller who follows a script, on the line of
 * a carrier, in virtual time, and measures what the caller hears: how soon the agent responds and stops, and when it talks
 * over the caller. {@link scriptedAgent} is an agent without a model. {@link virtualClock} is one time for the emulator and a
 * campaign.
 *
 * @see docs/simulated-calls.md, and docs/testing.md for lists
 *
 * @module
 */

export type {
  Callee,
  CalleeAct,
  CalleeCall,
  CalleeScript,
  Voice,
} from "../emulator/callee-script.ts";
export type { CallAudio } from "../emulator/recording/recording.ts";
export type { MediaClock, SessionObserver, VirtualClock } from "../lib/clock.ts";
export type { Summary } from "../lib/summary.ts";
export { type ComparisonRules, compareReports, type Difference } from "./compare-reports.ts";
export type { Detector, Segment } from "./detector.ts";
export type {
  CallFigures,
  SimulatedFault,
  SimulatedText,
  SimulatedTool,
  Trust,
} from "./figures.ts";
export { wav } from "./files.ts";
export type { LineFaults } from "./line.ts";
export type { Report, ReportOptions } from "./report.ts";
export { type ScriptedAnswer, type ScriptedOptions, scriptedAgent } from "./scripted-agent.ts";
export { type SimulatedCall, simulateCall } from "./simulate-call.ts";
export type {
  SimulatedCallOptions,
  SimulatedOptions,
  SimulateFlowOptions,
  SimulateOptions,
  SimulateSocketOptions,
} from "./simulate-options.ts";
export { type VirtualClockOptions, virtualClock } from "./simulated-time.ts";
export type { DeadAir, Expectation, Turn, Utterance } from "./turns.ts";
