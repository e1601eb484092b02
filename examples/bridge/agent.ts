import type { Context, Heard, StreamSession } from "outdial/flows";

/** The person on the line, as an agent has them. */
export interface Line {
  readonly call_id: string;
  /** Samples a second, both ways; they are 16-bit, little-endian, mono. */
  readonly sample_rate: 8000 | 16000;
  /** What the bridge signed: its own `id` of the call, and the `caller`. */
  readonly context: Context;
  /** Aborts once the call is gone. It is the one sign to clean up. */
  readonly signal: AbortSignal;
  /** Says something, after what was given before; the name is for `interrupt`. */
  readonly say: StreamSession["audio"];
  readonly interrupt: StreamSession["interrupt"];
  readonly clear: StreamSession["clear"];
  /** Ends the call. */
  readonly hangUp: () => void;
}

/** An agent at work on one call. */
export interface Agent {
  /** Hears the next piece of what the person says. Don't wait here: the next one comes. */
  readonly hear: (heard: Heard) => void;
}

/**
 * Gets an agent for a call. It may take its time, within `AGENT_WITHIN_SECONDS`: what the person says
 * in the meantime is kept. When it rejects, the call is ended.
 */
export type Connect = (line: Line) => Agent | Promise<Agent>;
