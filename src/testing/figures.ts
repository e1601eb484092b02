import type { CallAudio } from "../emulator/recording/recording.ts";
import type { Summary } from "../lib/summary.ts";
import type { DeadAir, Turn } from "./turns.ts";

/** A tool call of a simulated call. */
export interface SimulatedTool {
  /** The name of the tool. */
  readonly name: string;
  /** Its arguments, as the tool got them. */
  readonly args: unknown;
  /** When it had its result, in milliseconds since the answer. */
  readonly ms: number;
  /** Milliseconds that it took; 0 in virtual time, which stands still meanwhile. */
  readonly took: number;
  /** Whether it failed. */
  readonly isError: boolean;
}

/** What was said in a simulated call, as `onTranscript` gets it, and what a flow and its callee did. */
export interface SimulatedText {
  /** Who said or did it. */
  readonly who: "agent" | "flow" | "callee";
  /**
   * `"said"`: a text. Of a flow also: it `"played"` media, it `"beeped"`, it `"pressed"` keys as the callee does, it `"recorded"`
   * the callee, and it `"dialed"` somebody.
   */
  readonly type: "said" | "played" | "beeped" | "pressed" | "recorded" | "dialed";
  /** What was said; the URL that was played, the keys, and whom it dialed. Empty for a beep and a recording. */
  readonly text: string;
  /** `false` for a piece of a text that comes whole later. */
  readonly final: boolean;
  /** When it came or began, in milliseconds since the answer. */
  readonly ms: number;
  /** When it ended or was interrupted; with keys, when the last one was pressed. Absent for what an agent's session reports. */
  readonly to?: number | undefined;
  /** Why what was dialed ended, such as `"busy"`. */
  readonly reason?: string | undefined;
}

/**
 * How far the figures can be trusted. `ok` covers the clock of the line: in real time, how late its frames were. What the
 * application waits for on another clock is covered only where the call was run `twice`.
 */
export interface Trust {
  /** Whose time it was. */
  readonly clock: "virtual" | "real";
  /** How late a frame of the caller's audio was on average, in milliseconds. */
  readonly lateness: number;
  /** How late the latest of them was, in milliseconds. */
  readonly latest: number;
  /** The figures that were measured while a frame was late by more than 30 ms. Each turn has its own mark, `late`. */
  readonly late: readonly string[];
  /** What found the agent's speech. */
  readonly detector: string;
  /** How often the call was run: 2 with `twice`. */
  readonly runs: 1 | 2;
  /** The figures that differ between two runs: the application waits for something on another clock than the call's. */
  readonly differs: readonly string[];
  /**
   * `false` where frames were late by more than 5 ms on average, where a figure is in `late`: run it again on a machine
   * that does less; and where a figure is in `differs`.
   */
  readonly ok: boolean;
}

/** What went wrong in the flow of a simulated call that ended as any. */
export interface SimulatedFault {
  /** What was wrong, with the name of the error: a function of yours threw or was late; or the rule that its action broke. */
  readonly text: string;
  /** When it came, in milliseconds since the answer. */
  readonly ms: number;
}

/** The figures of a simulated call. All times are in milliseconds, since the answer. */
export interface CallFigures {
  /** One for each utterance of the caller, and in a flow one for each time that keys are pressed; the agent's first words are none. */
  readonly turns: readonly Turn[];
  /** From the answer to the agent's first speech. */
  readonly firstAudio: Summary;
  /** The responses of all turns, at the caller's ear. */
  readonly response: Summary;
  /** How soon the agent stopped where it should. */
  readonly stop: Summary;
  /** The part of all speech in which both spoke, from 0 to 1. */
  readonly overlap: number;
  /** Silence of both. */
  readonly deadAir: DeadAir;
  /** The tools whose result the agent got, in order. One that ends the call, such as a transfer, has none: see `end.outcome`. */
  readonly tools: readonly SimulatedTool[];
  /** What was said, in order, where the agent sends texts; and what a flow and its callee did. */
  readonly transcript: readonly SimulatedText[];
  /** What went wrong in a flow, in order: a step that throws hangs up, so the call ends as `normal`. Empty without a flow. */
  readonly faults: readonly SimulatedFault[];
  /** How the call ended: for the service, and for the session. */
  readonly end: {
    readonly ms: number;
    readonly reason: string | undefined;
    readonly session: string | undefined;
    /** Who hung up, with a flow. Absent where the longest duration has ended the call. */
    readonly by?: "flow" | "callee" | undefined;
    /** What `leave` of the session was given, such as `"transferred"`. */
    readonly outcome?: string | undefined;
  };
  /** How far the figures can be trusted. */
  readonly trust: Trust;
  /** What both sides heard. */
  readonly audio: CallAudio;
}
