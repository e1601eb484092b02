import type { Context } from "../callbacks/signed-url.ts";
import type { MediaOther, MediaStart } from "../flows/media/messages.ts";
import { chunkSizeRule, type StreamOptions } from "../flows/media/session.ts";
import type { StartChecks } from "../flows/media/signed-start.ts";
import { fail, fieldsOf, isFunction, isRecord, type Rule, serviceRule } from "../lib/check.ts";
import type { MediaClock } from "../lib/clock.ts";
import type { Transcript } from "./agent.ts";
import type { ConnectionEnd } from "./connection.ts";
import type { SessionMetrics } from "./metrics.ts";
import type { OpenSocket } from "./open-socket.ts";

/**
 * Why a session ended.
 *
 * | reason | what happened |
 * |---|---|
 * | `hung_up` | the service closed the stream: the callee hung up, or the call ended |
 * | `agent_hung_up` | the agent called `hang_up`, and what it said was played |
 * | `agent_ended` | the agent closed its socket in order, and what it said was played |
 * | `closed` | the application called `close` |
 * | `no_start` | the service sent no `start` within `startTimeout` |
 * | `unverified` | with `secret`: `start` has no valid token of `signUrl`; nothing was opened, called or sent |
 * | `agent_unreachable` | the agent's socket could not be opened |
 * | `agent_refused` | the agent refuses the key, the account, the model or its settings |
 * | `agent_slow` | the agent wasn't ready within `agentTimeout` |
 * | `agent_silent` | no audible audio and no tool call came within `silenceTimeout`, though a response was expected |
 * | `agent_stalled` | the agent doesn't read what it is sent |
 * | `agent_lost` | the agent's connection was lost |
 * | `agent_failed` | the agent's adapter threw, or its audio has a format that can't be converted |
 * | `session_limit` | the agent's own limit |
 * | `too_long` | `maxDuration` has passed |
 */
export type EndReason =
  | "hung_up"
  | "agent_hung_up"
  | "closed"
  | "no_start"
  | "unverified"
  | "agent_slow"
  | "agent_silent"
  | "session_limit"
  | "too_long"
  | ConnectionEnd;

/** How a session ended, and its figures. */
export interface SessionEnd {
  /** Why it ended. */
  readonly reason: EndReason;
  /** Its figures. */
  readonly metrics: SessionMetrics;
}

/** What was cut off when the callee spoke. */
export interface Interruption {
  /** Milliseconds from the start of the stream until the line was silent. */
  readonly ms: number;
  /** Milliseconds that had come from the agent and were not played. */
  readonly truncated: number;
}

/** A text of a call. */
export interface CallTranscript extends Transcript {
  /** Milliseconds from the start of the stream until the text came. */
  readonly ms: number;
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
   * Milliseconds within which the agent must be ready: a person is waiting.
   *
   * @defaultValue 10 000
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

/** The limits of a session, and the most audio in a message, in ms. */
export interface Limits {
  readonly chunkSize: number;
  readonly maxDuration: number;
  readonly startTimeout: number;
  readonly agentTimeout: number;
  readonly silenceTimeout: number;
  readonly toolTimeout: number;
}

const defaults: Limits = {
  chunkSize: 500,
  maxDuration: 600_000,
  startTimeout: 10_000,
  agentTimeout: 10_000,
  silenceTimeout: 30_000,
  toolTimeout: 10_000,
};

/** The options of one function, each with its rule. */
export type OptionRules<Options> = Readonly<Record<keyof Options, Rule>>;

export const functionRule: Rule = [isFunction, "must be a function"];
export const booleanRule: Rule = [(value) => typeof value === "boolean", "must be a boolean"];
export const objectRule: Rule = [isRecord, "must be an object"];
export const durationRule: Rule = [
  (value) => typeof value === "number" && value > 0 && value < 2 ** 31,
  "must be a number of milliseconds above 0 and below 2 ** 31",
];

/** A name as an exception may show it: any text can be the name of a field, a secret too. */
export const shownName = (name: string): string =>
  /^[a-z_]{1,26}$/i.test(name) ? name : "a field";

/**
 * Checks options; those that are left out or undefined have defaults.
 *
 * @throws {BadParametersException} (`placed: "no"`) that names the option and the rule, never the value
 */
export const checkOptions = <Options>(options: unknown, rules: OptionRules<Options>): void => {
  if (!isRecord(options)) fail("options", "must be an object");
  const known: Readonly<Record<string, Rule>> = rules;
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const meant = Object.keys(known).find((each) => each.startsWith(name.slice(0, 3)));
    fail(shownName(name), meant ? `is unknown: did you mean ${meant}?` : "is unknown");
  }
  for (const [name, [isKept, rule]] of Object.entries(known)) {
    if (options[name] !== undefined && !isKept(options[name])) fail(name, rule);
  }
};

const sessionRules: OptionRules<Omit<SessionOptions, keyof StartChecks>> = {
  onStart: functionRule,
  onTranscript: functionRule,
  onTool: functionRule,
  onInterrupted: functionRule,
  onMessage: functionRule,
  onMetrics: functionRule,
  onEnd: functionRule,
  onError: functionRule,
  maxDuration: durationRule,
  startTimeout: durationRule,
  agentTimeout: durationRule,
  silenceTimeout: durationRule,
  toolTimeout: durationRule,
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
