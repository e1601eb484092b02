import type { Context } from "../callbacks/signed-url.ts";
import type { SessionMetrics } from "./metrics.ts";

/**
 * What has become of something that was to be said: it was played to its end; the callee or the agent cut it off; or
 * it was never said, because the service refused it or the call ended before.
 */
export type Spoken = "played" | "interrupted" | "refused";

/** How something is said. */
export interface SpeakOptions {
  /**
   * Whether the callee's speech cuts it off. If not, the agent gets silence while it is said, so that its own detection
   * can't cut it either, and the callee's speech afterwards, at most 5 s of it.
   *
   * @defaultValue `true`
   */
  readonly interruptible?: boolean | undefined;
}

/** How audio of the application's own is played. */
export interface PlayOptions extends SpeakOptions {
  /** Samples per second: 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100 or 48000. */
  readonly sampleRate: number;
  /** What is said in it. The agent gets it as context, where it takes any. */
  readonly text?: string | undefined;
}

/** How a call is left. */
export interface LeaveOptions extends SpeakOptions {
  /**
   * Called once nothing holds the leaving up any more, such as to redirect the call; it says nothing. The stream is closed
   * once it has resolved. If it throws, the call goes on, and the promise of `leave` rejects.
   */
  readonly before?: (() => unknown) | undefined;
}

/**
 * A session of a callee with an agent. What is to be said is said one after the other, in the order of the calls, each
 * once neither the agent nor the callee speaks; it may be given before the agent is ready. A method that the agent's
 * service has no message for rejects with an `AgentException` whose `problem` is `not_supported`: `can` of the agent
 * shows it before the call.
 */
export interface AgentSession {
  /** Resolves once the session has ended, with the reason; it never rejects. On Workers, `waitUntil` it. */
  readonly ended: Promise<SessionEnd>;
  /** The figures so far. */
  readonly metrics: SessionMetrics;
  /**
   * Has the agent say a text word for word.
   *
   * @throws {AgentException} `not_supported` (the promise rejects), where the service can't: record the text, and `play` it
   */
  readonly say: (text: string, options?: SpeakOptions) => Promise<Spoken>;
  /**
   * Plays audio of the application's own: mono 16-bit samples, as an `Int16Array` or as their little-endian bytes, not a
   * WAV file. Don't change them before the promise has settled.
   *
   * @throws {BadParametersException} (the promise rejects, `placed: "no"`) when it isn't such audio
   */
  readonly play: (audio: Int16Array | Uint8Array, options: PlayOptions) => Promise<Spoken>;
  /**
   * Asks the agent for a response, by instructions that hold for it alone beside the agent's own.
   *
   * @throws {AgentException} `not_supported` (the promise rejects), where the service can't
   */
  readonly reply: (instructions?: string, options?: SpeakOptions) => Promise<Spoken>;
  /**
   * Gives the agent something to know, without a response to it.
   *
   * @throws {AgentException} `not_supported` (the promise rejects), where the service can't
   */
  readonly addContext: (text: string) => Promise<void>;
  /**
   * Changes what the agent is to do from now on.
   *
   * @throws {AgentException} `not_supported` (the promise rejects), where the service can't
   */
  readonly setInstructions: (text: string) => Promise<void>;
  /**
   * Silences the line at once and drops what is still to be said. An agent that can't `cancel` goes on: what it
   * sends of its response later may be played.
   */
  readonly interrupt: () => Promise<void>;
  /**
   * Presses keys of the application's side, such as those of a menu that was called: by the option `press`.
   *
   * @param keys - 1 to 32 of 0-9, A-D, *, # and w, which waits for half a second
   * @throws {AgentException} `not_supported` (the promise rejects) without the option
   * @throws {BadParametersException} (the promise rejects, `placed: "no"`) when they are no such keys
   */
  readonly press: (keys: string) => Promise<void>;
  /**
   * Leaves the call once the last words were heard, those of the response that a tool is called in too, and the callee was
   * silent for 600 ms since: closes the stream, and the `flow_url` of the `stream` decides what follows. Nothing can be said
   * while it waits. If the callee begins or finishes a turn meanwhile, the call goes on.
   *
   * @param outcome - for `onEnd`, such as `"message_left"`
   * @returns nothing, once the session has ended; a text for the model, when the call goes on: a tool returns it
   */
  readonly leave: (outcome?: string, options?: LeaveOptions) => Promise<string | undefined>;
  /** Ends the call at once. */
  readonly close: () => void;
}

/**
 * Why a session ended.
 *
 * | reason | what happened |
 * |---|---|
 * | `hung_up` | the service closed the stream: the callee hung up, or the call ended |
 * | `agent_hung_up` | the agent called `hang_up`, and what it said was played |
 * | `agent_ended` | the agent closed its socket in order, and what it said was played |
 * | `closed` | the application called `close` |
 * | `left` | the application called `leave`, and the last words were played |
 * | `no_start` | the service sent no `start` within `startTimeout` |
 * | `unverified` | with `secret`: `start` has no valid token of `signUrl`; nothing was opened, called or sent |
 * | `agent_unreachable` | the agent's socket could not be opened |
 * | `agent_refused` | the agent refuses the key, the account, the model or its settings |
 * | `agent_slow` | the agent wasn't ready within `agentTimeout` |
 * | `agent_silent` | no audible audio and no tool call came within `silenceTimeout`, though a response was expected; or its `retries` have failed, too |
 * | `agent_stalled` | the agent doesn't read what it is sent |
 * | `agent_lost` | the agent's connection was lost |
 * | `agent_failed` | the agent's adapter threw, or its audio has a format that can't be converted |
 * | `session_limit` | the agent's own limit |
 * | `too_long` | `maxDuration` has passed |
 * | `too_many_tokens` | more than `maxTokens` were used, and what the agent said was played |
 */
export type EndReason =
  | "hung_up"
  | "agent_hung_up"
  | "closed"
  | "left"
  | "no_start"
  | "unverified"
  | "agent_slow"
  | "agent_silent"
  | "session_limit"
  | "too_long"
  | "too_many_tokens"
  | ConnectionEnd;

/** How a session ended, and its figures. */
export interface SessionEnd {
  /** Why it ended. */
  readonly reason: EndReason;
  /** Its figures. */
  readonly metrics: SessionMetrics;
  /** With `opening`: the milliseconds of it that were played, and those that it has. */
  readonly opening?: { readonly played: number; readonly duration: number } | undefined;
  /** What `leave` was given. */
  readonly outcome?: string | undefined;
  /** The context of the signed `ws_url`; `{}` where there is none. */
  readonly context: Context;
}

/** Why an agent's connection ended. */
export type ConnectionEnd =
  | "agent_unreachable"
  | "agent_refused"
  | "agent_lost"
  | "agent_ended"
  | "agent_stalled"
  | "agent_failed"
  | "session_limit";
