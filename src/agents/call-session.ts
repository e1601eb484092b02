import type { Reporter } from "../lib/report.ts";
import type { Timers } from "../lib/timers.ts";
import type { Tools } from "./agent.ts";
import type { EndReason } from "./agent-session.ts";
import type { Connection } from "./connection.ts";
import type { Meter } from "./metrics.ts";
import type { Emit, Limits } from "./options.ts";
import type { OpeningWords } from "./own-audio.ts";
import type { ToolSession } from "./tools.ts";
import type { Voice } from "./voice.ts";

/** What a call has of its session. */
export interface CallSession {
  readonly tools: Tools;
  /** Samples per second of the stream. */
  readonly sampleRate: number;
  readonly limits: Limits;
  readonly emit: Emit;
  readonly meter: Meter;
  readonly timers: Timers;
  readonly reporter: Reporter;
  /** What tools get. */
  readonly about: Omit<ToolSession, "transcripts">;
  /** Said first. */
  readonly opening: OpeningWords | undefined;
  /** Called with each silence of both sides. */
  readonly onIdle: ((count: number) => void) | undefined;
  readonly end: (reason: EndReason) => void;
}

/** An agent that takes over from another one. */
interface NextAgent {
  readonly open: () => Connection;
  readonly tools: Tools;
}

/** A call whose stream has started. */
export interface Call {
  /** Connects an agent, which may have been waiting; `next` takes over from the one before, which is closed first. */
  readonly connect: (next?: NextAgent) => void;
  /**
   * Whether another agent may take over from one that has failed for this reason: not once that was audible or has called
   * a tool.
   */
  readonly isReplaceable: (reason: EndReason) => boolean;
  /** Audio of the callee has come. */
  readonly input: (audio: Uint8Array<ArrayBuffer>) => void;
  /** The callee has pressed a key. */
  readonly key: () => void;
  readonly voice: Voice;
  /** Silences the line, and what it stops. */
  readonly interrupt: () => void;
  /** Releases everything; whether the other side has left. */
  readonly stop: (isLeft: boolean) => void;
}
