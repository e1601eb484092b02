import type { Context } from "../callbacks/signed-url.ts";
import type { MediaOther, MediaStart } from "../flows/media/messages.ts";
import { chunkSizeRule, type StreamOptions } from "../flows/media/session.ts";
import type { StartChecks } from "../flows/media/signed-start.ts";
import { fieldsOf, isRecord, serviceRule } from "../lib/check.ts";
import type { MediaClock } from "../lib/clock.ts";
import {
  booleanRule,
  checkOptions,
  countRule,
  durationRule,
  functionRule,
  type OptionRules,
  objectRule,
} from "../lib/rules.ts";
import type { CallTranscript } from "./agent.ts";
import type { AgentSession, SessionEnd } from "./agent-session.ts";
import type { SessionMetrics } from "./metrics.ts";
import type { OpenSocket } from "./open-socket.ts";

/** The first words of a call, before the agent's own. */
export interface CallOpening {
  /**
   * What is said. Without `audio` the agent says it word for word, which `can.say` of the agent must allow; with it, the
   * agent gets it as context.
   */
  readonly text?: string | undefined;
  /** It as mono 16-bit samples, or their little-endian bytes: it begins before the agent is ready. */
  readonly audio?: Int16Array | Uint8Array | undefined;
  /** Samples per second of the audio: 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100 or 48000. */
  readonly sampleRate?: number | undefined;
  /**
   * Whether the callee's speech cuts it off.
   *
   * @defaultValue `false`
   */
  readonly interruptible?: boolean | undefined;
  /**
   * Whether the agent gets afterwards what the callee has said during it, at most 5 s. The callee's "Hello?" is answered
   * then.
   *
   * @defaultValue `true`
   */
  readonly keep?: boolean | undefined;
}

/** Keys that the callee has pressed. */
export interface PressedKeys {
  /** The key that was pressed just now; left out when they are `done` because no other came in time. */
  readonly key?: string | undefined;
  /** All of them so far, without the `#` that ends them. */
  readonly keys: string;
  /** Whether they are complete. */
  readonly done: boolean;
}

/** A silence of both sides. */
export interface Idle {
  /** How often it was idle since the callee spoke or pressed a key, from 1. */
  readonly count: number;
}

/** A response of the agent to the callee. */
export interface AnsweredTurn {
  /** Milliseconds from the callee's last audible audio to the agent's first. */
  readonly latency: number;
  /** Whether the callee cut it off. */
  readonly interrupted: boolean;
}

/** What was cut off when the callee spoke. */
export interface Interruption {
  /** Milliseconds from the start of the stream until the line was silent. */
  readonly ms: number;
  /** Milliseconds that had come from the agent and were not played. */
  readonly truncated: number;
}

/** A call of a tool that has its result. */
export interface CalledTool {
  /** The name that the agent called. */
  readonly name: string;
  /** The arguments, as the tool got them, or as the agent sent them where no tool did. */
  readonly args: unknown;
  /** Milliseconds from the start of the stream until the result. */
  readonly ms: number;
  /** Milliseconds that it took. */
  readonly took: number;
  /** Whether it failed. */
  readonly isError: boolean;
}

/** What a session reports, by the name of the option that gets it. */
interface SessionReports {
  readonly onTranscript: CallTranscript;
  readonly onTool: CalledTool;
  readonly onInterrupted: Interruption;
  readonly onTurn: AnsweredTurn;
  readonly onMetrics: SessionMetrics;
  readonly onEnd: SessionEnd;
}

/** The functions that get them. */
export type SessionListeners = {
  readonly [Name in keyof SessionReports]?: ((report: SessionReports[Name]) => unknown) | undefined;
};

/** Calls the function that has this name. */
export type Emit = <Name extends keyof SessionReports>(
  name: Name,
  report: SessionReports[Name],
) => void;

/** The options of `connectAgent`. What the functions throw goes to `onError`; the call continues. */
export interface SessionOptions extends StreamOptions {
  /**
   * Called once, when the stream has started, with the call's ids. The second argument is the context of `signUrl`,
   * where a `service` such as Twilio sends it with `start` and it was verified; else it is `{}`.
   */
  readonly onStart?: ((start: MediaStart, context: Context) => unknown) | undefined;
  /** Called with the texts of what is said, where the agent sends them. */
  readonly onTranscript?: ((transcript: CallTranscript) => unknown) | undefined;
  /** Called when a tool has its result, with its arguments. `hang_up` is none, unless one of yours has its name. */
  readonly onTool?: ((tool: CalledTool) => unknown) | undefined;
  /** Called when the callee has interrupted the agent, once the line is silent. */
  readonly onInterrupted?: ((interruption: Interruption) => unknown) | undefined;
  /** Called with each response to the callee, once it was played or cut off. */
  readonly onTurn?: ((turn: AnsweredTurn) => unknown) | undefined;
  /**
   * Called with each key that the callee presses, and once they are complete: by `#`, or because no other came within
   * `keysTimeout`. They may be a PIN: log none. Outdial's own interface has no keys.
   */
  readonly onKeys?: ((pressed: PressedKeys, session: AgentSession) => unknown) | undefined;
  /**
   * Milliseconds without another key after which they are complete.
   *
   * @defaultValue 3000
   */
  readonly keysTimeout?: number | undefined;
  /**
   * Whether the agent gets the keys too, once they are complete: as context, and without `onKeys` as what it is to respond
   * to. Otherwise they reach it in no form: while the tone of a key may be in the callee's audio it gets silence.
   *
   * @defaultValue `false`
   */
  readonly keysToAgent?: boolean | undefined;
  /** Called when neither side has spoken for `idleTimeout`, and again after each further one. */
  readonly onIdle?: ((idle: Idle, session: AgentSession) => unknown) | undefined;
  /**
   * Milliseconds of silence after which the call is idle: from the end of playback. Speech, keys and running tools stop
   * it.
   *
   * @defaultValue 10 000
   */
  readonly idleTimeout?: number | undefined;
  /**
   * Milliseconds of the callee's audible speech that interrupt the agent: less of it, such as "mhm", the agent never
   * gets while it speaks. With 0 the agent's own detection decides alone.
   *
   * @defaultValue 0
   */
  readonly interruptAfter?: number | undefined;
  /** What is said first, before the agent's own greeting, and once: the agent gets silence meanwhile. */
  readonly opening?: CallOpening | undefined;
  /**
   * The context of the `ws_url`, where the application has verified that itself: for tools and `onEnd`.
   *
   * @defaultValue that of `start`, where a `service` such as Twilio sends it
   */
  readonly context?: Context | undefined;
  /**
   * How often a response that failed for a passing reason is asked for again: after 250 ms, then after 1000.
   *
   * @defaultValue 2
   */
  readonly retries?: number | undefined;
  /**
   * The most tokens of the agent's responses, input and output; after more of them the session ends, once what it said was
   * played. OpenAI and Gemini report them, GPT-Live those of its backend model alone, ElevenLabs and Deepgram none.
   *
   * @defaultValue no limit
   */
  readonly maxTokens?: number | undefined;
  /** What `press` of the session does: the carrier's API, or tones. */
  readonly press?:
    | ((keys: string, start: MediaStart, session: AgentSession) => unknown)
    | undefined;
  /** Called with messages of the service other than audio, as they came. */
  readonly onMessage?: ((message: MediaOther) => unknown) | undefined;
  /** Called once with the figures of the session, just before `onEnd`. */
  readonly onMetrics?: ((metrics: SessionMetrics) => unknown) | undefined;
  /** Called once with the reason of the end; both sockets are released then. */
  readonly onEnd?: ((end: SessionEnd) => unknown) | undefined;
  /**
   * Called with errors: `AgentException`, `FrameException`, and what tools and these functions throw. Left out, the
   * latter are printed with `console.error`.
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
  /**
   * The longest duration of a session, in milliseconds: calls that nobody ends cost money.
   *
   * @defaultValue 600 000
   */
  readonly maxDuration?: number | undefined;
  /**
   * Milliseconds within which the service must start the stream.
   *
   * @defaultValue 10 000
   */
  readonly startTimeout?: number | undefined;
  /**
   * Milliseconds within which the agent must be ready, of a list each one: a person is waiting.
   *
   * @defaultValue 10 000, and 4000 for a list
   */
  readonly agentTimeout?: number | undefined;
  /**
   * Milliseconds without audible audio or a tool call after which an agent counts as gone, though a response was
   * expected: at the beginning, after the callee has spoken, within a response, after a failed or empty one, or after
   * a tool's result. A running tool stops this clock, and a silent callee doesn't start it.
   *
   * @defaultValue 30 000
   */
  readonly silenceTimeout?: number | undefined;
  /**
   * Milliseconds that a tool may take; then the model gets the result that it took too long.
   *
   * @defaultValue 10 000
   */
  readonly toolTimeout?: number | undefined;
  /** Opens the agent's socket, instead of the runtime's own WebSocket. */
  readonly open?: OpenSocket | undefined;
  /** The time of a simulated call: `simulateCall` passes it to the application. */
  readonly simulation?: MediaClock | undefined;
}

/** The options that are numbers: the limits of a session, and the most audio in a message, in ms. */
export type Limits = {
  readonly [Name in keyof SessionOptions as SessionOptions[Name] extends number | undefined
    ? Name
    : never]-?: number;
};

const defaults: Limits = {
  chunkSize: 500,
  maxDuration: 600_000,
  startTimeout: 10_000,
  agentTimeout: 10_000,
  silenceTimeout: 30_000,
  toolTimeout: 10_000,
  keysTimeout: 3000,
  idleTimeout: 10_000,
  interruptAfter: 0,
  retries: 2,
  maxTokens: Number.POSITIVE_INFINITY,
};

const sessionRules: OptionRules<Omit<SessionOptions, keyof StartChecks>> = {
  onStart: functionRule,
  onTranscript: functionRule,
  onTool: functionRule,
  onInterrupted: functionRule,
  onMessage: functionRule,
  onTurn: functionRule,
  onKeys: functionRule,
  onIdle: functionRule,
  onMetrics: functionRule,
  onEnd: functionRule,
  onError: functionRule,
  maxDuration: durationRule,
  startTimeout: durationRule,
  agentTimeout: durationRule,
  silenceTimeout: durationRule,
  toolTimeout: durationRule,
  keysTimeout: durationRule,
  keysToAgent: booleanRule,
  idleTimeout: durationRule,
  interruptAfter: countRule,
  retries: countRule,
  maxTokens: countRule,
  opening: objectRule,
  context: objectRule,
  press: functionRule,
  open: functionRule,
  simulation: objectRule,
  chunkSize: chunkSizeRule,
  service: [(value) => isRecord(fieldsOf(value).media), serviceRule],
  form: [(value) => value === "flat" || value === "nested", 'must be "flat" or "nested"'],
};

/**
 * Checks the options of a session, and fills in its limits.
 *
 * @throws {BadParametersException} (`placed: "no"`) when an option is unknown or breaks its rule
 */
export const limitsOf = (options: SessionOptions): Limits => {
  checkOptions(options, { ...sessionRules, ...options?.service?.media?.optionRules });
  const given = Object.entries(options).filter(
    ([name, value]) => name in defaults && value !== undefined,
  );
  return { ...defaults, ...Object.fromEntries(given) };
};
