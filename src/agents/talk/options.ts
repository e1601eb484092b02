import type { StreamOptions } from "../../flows/media/options.ts";
import type { MediaOther, MediaStart } from "../../flows/media/service.ts";
import { refuse } from "../../rules/refuse.ts";
import type { Transcript } from "../agent.ts";
import type { Gone } from "../socket/news.ts";
import type { OpenSocket } from "../socket/socket.ts";
import type { TalkMetrics } from "./metrics.ts";

/**
 * Why a talk ended.
 *
 * | reason | what happened |
 * |---|---|
 * | `hung_up` | the stream was closed by the service: the callee hung up, or the call ended |
 * | `agent_hung_up` | the agent used `hang_up`, and what it said was heard |
 * | `agent_ended` | the agent closed its socket, and what it said was heard |
 * | `closed` | the application called `close` |
 * | `no_start` | the service sent no `start` in time |
 * | `agent_unreachable` | the agent's socket could not be opened |
 * | `agent_refused` | the agent doesn't take the key |
 * | `agent_slow` | the agent wasn't ready in time |
 * | `agent_silent` | nothing at all came of the agent for too long, when something should have |
 * | `agent_stalled` | the agent doesn't take what it is sent |
 * | `agent_lost` | the agent's connection was lost |
 * | `agent_failed` | the agent's adapter threw, or speaks in a format that can't be converted |
 * | `session_limit` | the agent's own limit |
 * | `too_long` | `longest` has passed |
 */
export type EndReason =
  | "hung_up"
  | "agent_hung_up"
  | "closed"
  | "no_start"
  | "agent_slow"
  | "agent_silent"
  | "session_limit"
  | "too_long"
  | Gone;

/** How a talk ended, and what it was like. */
export interface TalkEnd {
  /** Why it ended. */
  readonly reason: EndReason;
  /** What it was like. */
  readonly metrics: TalkMetrics;
}

/** What was cut off when the callee spoke. */
export interface Interruption {
  /** Milliseconds that the agent had said and that nobody heard. */
  readonly truncated: number;
}

/** What `connectAgent` may be told. What the functions throw is told to `onError`; the call goes on. */
export interface TalkOptions extends StreamOptions {
  /** Hears which call it is. */
  readonly onStart?: ((start: MediaStart) => unknown) | undefined;
  /** Hears what is said, in words, where the agent tells them. */
  readonly onTranscript?: ((transcript: Transcript) => unknown) | undefined;
  /** Hears that the callee has interrupted the agent, once the agent is silent. */
  readonly onInterrupted?: ((interruption: Interruption) => unknown) | undefined;
  /** Hears what the service sends beside audio, as it came. */
  readonly onMessage?: ((message: MediaOther) => unknown) | undefined;
  /** Hears once what the call was like, just before `onEnd`. */
  readonly onMetrics?: ((metrics: TalkMetrics) => unknown) | undefined;
  /** Hears once why it ended; both sockets are let go then. */
  readonly onEnd?: ((end: TalkEnd) => unknown) | undefined;
  /**
   * Hears of what went wrong: `AgentException`, `FrameException`, and what tools and these functions throw.
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
  /**
   * Seconds that a talk may last: calls that nobody ends cost money.
   *
   * @defaultValue 600
   */
  readonly longest?: number | undefined;
  /**
   * Seconds that the service may take to begin.
   *
   * @defaultValue 10
   */
  readonly startWithin?: number | undefined;
  /**
   * Seconds that the agent may take to be ready: a person is waiting.
   *
   * @defaultValue 10
   */
  readonly agentWithin?: number | undefined;
  /**
   * Seconds after which an agent counts as gone of which nothing at all comes, though it should: to begin,
   * after the callee has spoken, within an answer, or after a tool's. A tool at work holds this clock, and a
   * callee who says nothing doesn't start it.
   *
   * @defaultValue 30
   */
  readonly silence?: number | undefined;
  /**
   * Seconds that a tool may take; then the model is told that it took too long.
   *
   * @defaultValue 10
   */
  readonly toolsWithin?: number | undefined;
  /** Opens the agent's socket, in the place of the runtime's own. */
  readonly open?: OpenSocket | undefined;
}

/** The times of a talk, in ms. */
export interface Times {
  readonly longest: number;
  readonly startWithin: number;
  readonly agentWithin: number;
  readonly silence: number;
  readonly toolsWithin: number;
}

const defaults = { longest: 600, startWithin: 10, agentWithin: 10, silence: 30, toolsWithin: 10 };

/**
 * Seconds, as milliseconds.
 *
 * @throws {BadParametersException} (`placed: "no"`) when it is no time
 */
export const millisecondsOf = (param: string, seconds: unknown): number => {
  const milliseconds = typeof seconds === "number" ? seconds * 1000 : 0;
  if (milliseconds > 0 && milliseconds < 2 ** 31) return milliseconds;
  return refuse(param, "must be above 0 s and below 2 ** 31 ms");
};

/**
 * The times, in milliseconds.
 *
 * @throws {BadParametersException} (`placed: "no"`) when one is no time
 */
export const timesOf = (options: TalkOptions): Times => {
  const times = { ...defaults };
  for (const name of ["longest", "startWithin", "agentWithin", "silence", "toolsWithin"] as const) {
    times[name] = millisecondsOf(name, options[name] ?? defaults[name]);
  }
  return times;
};
