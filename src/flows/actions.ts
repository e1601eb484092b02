import { custom, type GenericSchema, is, lazy, literal, optional, strictObject } from "valibot";
import { CallParams } from "../calls/params.ts";
import { fail, fieldsOf, flag, isRecord, isText, presence, ruleSchema } from "../lib/check.ts";
import { urlRule } from "../lib/url.ts";
import { type ActionSchema, build, byAction } from "./by-action.ts";
import { inRequest } from "./in-request.ts";
import { numberRule } from "./prompts.ts";
import { type RecordAction, recordSchema } from "./record.ts";
import {
  checkNext,
  checkSpoken,
  type Gather,
  gatherSchema,
  httpUrl,
  type Say,
  saySchema,
  stepName,
} from "./say.ts";

/** Plays a recording to the person on the line. */
export interface Play<Step extends string = never> {
  /** Which action it is. */
  readonly action: "play";
  /** What is played: an https URL; http on loopback, for work on one machine. */
  readonly media_url: string;
  /** The step of `flowHandler` that decides what comes next; without one, and without `flow_url`, the call ends. */
  readonly next?: Step | undefined;
  /** The URL of the next action, instead of `next`. */
  readonly flow_url?: string | undefined;
}

/** Connects the audio of the call, both ways, to a WebSocket of yours. */
export interface Stream<Step extends string = never> {
  /** Which action it is. */
  readonly action: "stream";
  /** Where the service connects to: a wss URL; ws on loopback, for work on one machine. */
  readonly ws_url: string;
  /**
   * Samples a second.
   *
   * @defaultValue `"8k"`, filled in by the service
   */
  readonly sample_rate?: "8k" | "16k" | undefined;
  /**
   * Milliseconds of audio in one message: 20 to 2 000, in steps of 20.
   *
   * @defaultValue 400, filled in by the service
   */
  readonly chunk_size?: number | undefined;
  /**
   * Whether this part of the call is recorded.
   *
   * @defaultValue `true`, filled in by the service
   */
  readonly record?: boolean | undefined;
  /** The step of `flowHandler` that decides what comes next; without one, and without `flow_url`, the call ends. */
  readonly next?: Step | undefined;
  /** The URL of the next action, instead of `next`. */
  readonly flow_url?: string | undefined;
}

/** What follows a `dial` whose callee wasn't reached. */
export type Branch = "on_busy" | "on_no_answer" | "on_failure";

const branchNames: readonly Branch[] = ["on_busy", "on_no_answer", "on_failure"];

/** What follows in a branch: an action, or the name of a step, in a form that TypeScript infers beside an action. */
export type Following<Step extends string> = Action<Step> | `${Step}`;

/** Connects the call to somebody else. */
export interface Dial<Step extends string = never> {
  /** Which action it is. */
  readonly action: "dial";
  /** Who: an E.164 number, or a `sip:` URI. */
  readonly to: string;
  /**
   * Whole seconds of ringing: 1 to 600.
   *
   * @defaultValue 30, filled in by the service
   */
  readonly timeout?: number | undefined;
  /**
   * Whether the conversation is recorded.
   *
   * @defaultValue `false`, filled in by the service
   */
  readonly record?: boolean | undefined;
  /** The step of `flowHandler` that decides what comes next; it gets `dialed`. Without one, and without `flow_url`, the call ends. */
  readonly next?: Step | undefined;
  /** The URL of the next action, instead of `next`. */
  readonly flow_url?: string | undefined;
  /** What follows when nobody answers: an action, or the name of a step. */
  readonly on_no_answer?: Following<Step> | undefined;
  /** What follows when the line is busy: an action, or the name of a step. */
  readonly on_busy?: Following<Step> | undefined;
  /** What follows when the connection can't be made: an action, or the name of a step. */
  readonly on_failure?: Following<Step> | undefined;
}

/** Ends the call. */
export interface Hangup {
  /** Which action it is. */
  readonly action: "hangup";
}

/**
 * What a call does next, discriminated by `action`. A service may have only some of them.
 *
 * @typeParam Step - the names of the steps that it may continue with
 */
export type Action<Step extends string = never> =
  | Play<Step>
  | Stream<Step>
  | Dial<Step>
  | Hangup
  | Say<Step>
  | Gather<Step>
  | RecordAction<Step>;

/** An action that continues with any steps. */
export type AnyAction = Action<string>;

const socketUrl = ruleSchema<string>((value) => urlRule(value, "ws"));

const isSipUri = (value: unknown): boolean =>
  typeof value === "string" &&
  value.length <= 2083 &&
  /^sip:[^\s<>"@]+(@[^\s<>"@]+)?$/i.test(value);

const playSchema = strictObject(
  {
    action: literal("play"),
    media_url: httpUrl,
    flow_url: optional(httpUrl),
  },
  presence,
);

const hangupSchema = strictObject({ action: literal("hangup") }, presence);

/** A branch on the wire of outdial's own interface: there it is nested. */
const nested = optional(
  byAction<Play | Hangup>({ play: playSchema, hangup: hangupSchema }, "must be a play or a hangup"),
);

const streamSchema = strictObject(
  {
    action: literal("stream"),
    ws_url: socketUrl,
    sample_rate: optional(
      custom<"8k" | "16k">((value) => value === "8k" || value === "16k", 'must be "8k" or "16k"'),
    ),
    chunk_size: optional(ruleSchema<number>(numberRule(20, 2000, 20))),
    record: optional(flag),
    flow_url: optional(httpUrl),
  },
  presence,
);

const dialSchema = strictObject(
  {
    action: literal("dial"),
    to: custom<string>(
      (value) => is(CallParams.entries.to_number, value) || isSipUri(value),
      'must be an E.164 number, "+" and 7 to 15 digits, or a sip: URI',
    ),
    timeout: optional(ruleSchema<number>(numberRule(1, 600))),
    record: optional(flag),
    flow_url: optional(httpUrl),
    on_no_answer: nested,
    on_busy: nested,
    on_failure: nested,
  },
  presence,
);

/** A `dial` as outdial's own interface writes it: what follows is nested, and there are no steps. */
export interface WireDial extends Omit<Dial, Branch | "next"> {
  /** What follows when nobody answers. */
  readonly on_no_answer?: Play | Hangup | undefined;
  /** What follows when the line is busy. */
  readonly on_busy?: Play | Hangup | undefined;
  /** What follows when the connection can't be made. */
  readonly on_failure?: Play | Hangup | undefined;
}

/** The actions that every service has, as outdial's own interface writes them. */
export type BasicAction = Play | Stream | WireDial | Hangup;

/** The schemas of the actions that every service has. */
export const basicSchemas: {
  readonly [Name in BasicAction["action"]]: ActionSchema<Extract<BasicAction, { action: Name }>>;
} = { play: playSchema, stream: streamSchema, dial: dialSchema, hangup: hangupSchema };

/** The schema of a `play`, by the names of its steps: those are not on the wire. */
const playOf = <Step extends string>() =>
  strictObject({ ...playSchema.entries, next: optional(stepName<Step>()) }, presence);

const streamOf = <Step extends string>() =>
  strictObject({ ...streamSchema.entries, next: optional(stepName<Step>()) }, presence);

/** The most actions of a branch: no URL has room for more. */
const maxActions = 100;

/** Whether a branch is too many actions. One that is reached twice is checked twice, so it counts twice. */
const isTooMany = (branch: unknown): boolean => {
  const actions = [branch];
  for (const action of actions) {
    if (actions.length > maxActions) return true;
    const fields = fieldsOf(action);
    actions.push(...branchNames.map((name) => fields[name]).filter(isRecord));
  }
  return false;
};

const tooMany = custom<never>(() => false, `must be at most ${maxActions} actions`);

const branchSchema = <Step extends string>(): GenericSchema<unknown, Following<Step>> =>
  lazy((value): GenericSchema<unknown, Following<Step>> => {
    if (isText(value)) return stepName<`${Step}`>();
    return isTooMany(value) ? tooMany : (Action as GenericSchema<unknown, Action<Step>>);
  });

const dialOf = <Step extends string>() => {
  const branch = optional(branchSchema<Step>());
  return strictObject(
    {
      ...dialSchema.entries,
      next: optional(stepName<Step>()),
      on_no_answer: branch,
      on_busy: branch,
      on_failure: branch,
    },
    presence,
  );
};

/** The branches of a `dial` that are there, by their names. */
export const branchesOf = (
  dial: Pick<Dial<string>, Branch>,
): readonly (readonly [Branch, AnyAction | string])[] =>
  branchNames.flatMap((name) => {
    const branch = dial[name];
    return branch === undefined ? [] : [[name, branch] as const];
  });

/**
 * Checks what no single field says: where an action continues.
 *
 * @throws {BadParametersException} that names a field
 */
export const checkAction = (action: AnyAction): void => {
  if (action.action === "hangup") return;
  if (action.action === "say" || action.action === "gather") {
    checkSpoken(action);
    return;
  }
  checkNext(action);
  for (const [name, branch] of action.action === "dial" ? branchesOf(action) : []) {
    if (isText(branch)) continue;
    checkAction(branch);
    // To ask again is to run the step that asked: that would dial again.
    if (branch.action === "gather" && (branch.tries ?? 1) > 1)
      fail(name, "must not ask more than once: name a step that asks");
  }
};

/** The names of all steps that an action may continue with. */
export const stepsOf = (action: AnyAction): readonly string[] => {
  if (action.action === "hangup") return [];
  const next = action.next ?? [];
  if (action.action === "dial") {
    const branches = branchesOf(action).map(([, branch]) => branch);
    return [next, ...branches.map((one) => (isText(one) ? one : stepsOf(one)))].flat();
  }
  if (action.action !== "gather") return [next].flat();
  return [next, action.otherwise ?? [], Object.values(action.on ?? {})].flat();
};

/**
 * The schema of an action, as the builders make it. Unknown fields are refused: a typo must not
 * record with a default. A message names the rule, never the value.
 *
 * | action | fields |
 * |---|---|
 * | `play` | `media_url` (https); `next`? or `flow_url`? |
 * | `stream` | `ws_url` (wss); `sample_rate`? `"8k"` or `"16k"`; `chunk_size`? 20 to 2 000 ms in steps of 20; `record`?; `next`? or `flow_url`? |
 * | `dial` | `to` (E.164 or `sip:`); `timeout`? 1 to 600 s; `record`?; `next`? or `flow_url`?; `on_no_answer`?, `on_busy`?, `on_failure`? each an action, 100 with its own branches at most, or the name of a step |
 * | `hangup` | none |
 * | `say` | `prompts`, 1 to 10: texts, `{ media_url }`, `{ pause_ms }`; `language`?; `next`? or `flow_url`? |
 * | `gather` | `prompts`; `language`?; `digits`? 1 to 20; `finish_on_key`? `"#"`; `speech`?; `timeout_ms`?; `as`?; `on`? or `next`?; `tries`? 1 to 5; `otherwise`?; `flow_url`? |
 * | `record` | `prompts`; `language`?; `max_length_ms`? 3 000 to 3 600 000; `finish_on_key`? `"#"`; `silence_ms`? 3 000 to 10 000; `as`?; `next`? or `flow_url`? |
 *
 * URLs may be plain `http:` and `ws:` on loopback; whether a service takes those is its own rule.
 *
 * @example Check an action from a store
 * ```ts
 * import { Action } from "outdial/flows";
 * import { is } from "valibot";
 *
 * console.log(is(Action, { action: "play", media_url: "https://app.test/hello.wav" })); // true
 * console.log(is(Action, { action: "play", media_url: "http://app.test/hello.wav" })); // false
 * ```
 * @see docs/flows.md
 */
export const Action: GenericSchema<unknown, AnyAction> = byAction<AnyAction>({
  play: playOf<string>(),
  stream: streamOf<string>(),
  dial: dialOf<string>(),
  hangup: hangupSchema,
  say: saySchema,
  gather: gatherSchema,
  record: recordSchema,
});

/** A checked action of a builder. */
const built = <Built extends AnyAction>(
  schema: GenericSchema<unknown, Built>,
  fields: () => object,
): Built => {
  const action = build(schema, fields);
  checkAction(action);
  return action;
};

/**
 * Plays a recording.
 *
 * @param media_url - what is played: an https URL
 * @param options - what comes next: `next`, a step of `flowHandler`, or `flow_url`
 * @returns the action, as the wire has it
 * @throws {BadParametersException} when a field breaks its rule
 *
 * @example Play a greeting, then ask for the next action
 * ```ts
 * import { play } from "outdial/flows";
 *
 * const action = play("https://app.test/hello.wav", { flow_url: "https://app.test/flow/2" });
 * console.log(action.action); // play
 * ```
 * @see docs/flows.md
 */
export const play = <const Step extends string = never>(
  media_url: string,
  options?: Omit<Play<Step>, "action" | "media_url">,
): Play<NoInfer<Step>> => built(playOf<Step>(), () => ({ action: "play", media_url, ...options }));

/**
 * Connects the audio of the call to a WebSocket of yours; `streamSession` handles its messages.
 *
 * @param ws_url - where the service connects to: a wss URL, signed with `signUrl`
 * @param options - `sample_rate` (`"8k"`), `chunk_size` in ms (400), `record` (`true`), and what comes
 * next: `next`, a step of `flowHandler`, or `flow_url`
 * @returns the action, as the wire has it; defaults are the service's, and not written
 * @throws {BadParametersException} when a field breaks its rule
 *
 * @example Hand the call to a voice agent
 * ```ts
 * import { stream } from "outdial/flows";
 *
 * const action = stream("wss://app.test/media", { sample_rate: "16k", chunk_size: 20, record: false });
 * console.log(JSON.stringify(action.record)); // false
 * ```
 * @see docs/flows.md
 */
export const stream = <const Step extends string = never>(
  ws_url: string,
  options?: Omit<Stream<Step>, "action" | "ws_url">,
): Stream<NoInfer<Step>> =>
  built(streamOf<Step>(), () => ({ action: "stream", ws_url, ...options }));

/**
 * Connects the call to somebody else.
 *
 * @param to - an E.164 number, or a `sip:` URI
 * @param options - `timeout` in seconds (30), `record` (`false`); what comes next: `next`, a step of `flowHandler` that
 * gets `dialed`, or `flow_url`; and what follows when nobody is reached: `on_no_answer`, `on_busy`, `on_failure`, each an
 * action, or the name of a step
 * @returns the action, as the wire has it; defaults are the service's, and not written
 * @throws {BadParametersException} when a field breaks its rule
 *
 * @example Put somebody through
 * ```ts
 * import { dial, hangup, say } from "outdial/flows";
 *
 * const action = dial("+12025550100", {
 *   timeout: 20,
 *   on_busy: say("The line is busy. We call you back."),
 *   on_failure: hangup(),
 * });
 * console.log(action.timeout); // 20
 * ```
 * @see docs/flows.md
 */
export const dial = <const Step extends string = never>(
  to: string,
  options?: Omit<Dial<Step>, "action" | "to">,
): Dial<NoInfer<Step>> => built(dialOf<Step>(), () => ({ action: "dial", to, ...options }));

/**
 * Ends the call.
 *
 * @example End the call
 * ```ts
 * import { hangup } from "outdial/flows";
 *
 * console.log(JSON.stringify(hangup())); // {"action":"hangup"}
 * ```
 * @see docs/flows.md
 */
export const hangup = (): Hangup => inRequest({ action: "hangup" });
