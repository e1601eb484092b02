import {
  type CustomSchema,
  custom,
  type GenericSchema,
  is,
  literal,
  optional,
  strictObject,
  variant,
} from "valibot";
import { CallParams } from "../calls/params.ts";
import { presence } from "../rules/check.ts";
import { routeOf } from "../rules/url.ts";

/** Plays a recording to the person on the line. */
export interface Play {
  /** Which action it is. */
  readonly action: "play";
  /** What is played: an https URL; http on loopback, for work on one machine. */
  readonly media_url: string;
  /** Where the service asks for the next action; without one the call ends with this one. */
  readonly flow_url?: string | undefined;
}

/** Connects the audio of the call, both ways, to a WebSocket of yours. */
export interface Stream {
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
  /** Where the service asks for the next action; without one the call ends with this one. */
  readonly flow_url?: string | undefined;
}

/** Connects the call to somebody else. */
export interface Dial {
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
  /** Where the service asks for the next action; without one the call ends with this one. */
  readonly flow_url?: string | undefined;
  /** What follows when nobody answers. */
  readonly on_no_answer?: Play | Hangup | undefined;
  /** What follows when the line is busy. */
  readonly on_busy?: Play | Hangup | undefined;
  /** What follows when the connection can't be made. */
  readonly on_failure?: Play | Hangup | undefined;
}

/** Ends the call. */
export interface Hangup {
  /** Which action it is. */
  readonly action: "hangup";
}

/** What a call flow answers: the one thing that the service does next, told apart by `action`. */
export type Action = Play | Stream | Dial | Hangup;

type Field<T> = CustomSchema<T, string>;

const httpUrl: Field<string> = /* @__PURE__ */ custom(
  (value) => !!routeOf(value),
  "must be an https URL of at most 2083 characters, without user and password",
);

/** `ws` becomes `http`, and `wss` `https`: the rules are the same. */
const socketUrl: Field<string> = /* @__PURE__ */ custom(
  (value) => !!routeOf(value, "ws"),
  "must be a wss URL of at most 2082 characters, without user and password",
);

const isSipUri = (value: unknown): boolean =>
  typeof value === "string" &&
  value.length <= 2083 &&
  /^sip:[^\s<>"@]+(@[^\s<>"@]+)?$/i.test(value);

const flag: Field<boolean> = /* @__PURE__ */ custom(
  (value) => typeof value === "boolean",
  "must be true or false",
);

const isWhole = (value: unknown, from: number, to: number): value is number =>
  Number.isInteger(value) && Number(value) >= from && Number(value) <= to;

const play = /* @__PURE__ */ strictObject(
  {
    action: /* @__PURE__ */ literal("play"),
    media_url: httpUrl,
    flow_url: /* @__PURE__ */ optional(httpUrl),
  },
  presence,
);

const hangup = /* @__PURE__ */ strictObject(
  { action: /* @__PURE__ */ literal("hangup") },
  presence,
);

const instead = /* @__PURE__ */ optional(
  /* @__PURE__ */ variant("action", [play, hangup], "must be a play or a hangup"),
);

const stream = /* @__PURE__ */ strictObject(
  {
    action: /* @__PURE__ */ literal("stream"),
    ws_url: socketUrl,
    sample_rate: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<"8k" | "16k">(
        (value) => value === "8k" || value === "16k",
        'must be "8k" or "16k"',
      ),
    ),
    chunk_size: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<number>(
        (value) => isWhole(value, 20, 2000) && value % 20 === 0,
        "must be 20 to 2000 ms, in steps of 20",
      ),
    ),
    record: /* @__PURE__ */ optional(flag),
    flow_url: /* @__PURE__ */ optional(httpUrl),
  },
  presence,
);

const dial = /* @__PURE__ */ strictObject(
  {
    action: /* @__PURE__ */ literal("dial"),
    to: /* @__PURE__ */ custom<string>(
      (value) => is(CallParams.entries.to_number, value) || isSipUri(value),
      'must be an E.164 number, "+" and 7 to 15 digits, or a sip: URI',
    ),
    timeout: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<number>(
        (value) => isWhole(value, 1, 600),
        "must be a whole number of seconds from 1 to 600",
      ),
    ),
    record: /* @__PURE__ */ optional(flag),
    flow_url: /* @__PURE__ */ optional(httpUrl),
    on_no_answer: instead,
    on_busy: instead,
    on_failure: instead,
  },
  presence,
);

/** The schema of each action. */
export const actions: {
  readonly [Name in Action["action"]]: GenericSchema<unknown, Extract<Action, { action: Name }>>;
} = { play, stream, dial, hangup };

/** The fields that an action has. */
export const fieldsOf = (name: Action["action"]): readonly string[] =>
  Object.keys({ play, stream, dial, hangup }[name].entries);

/**
 * The schema of an action, for both ends of the wire. Unknown fields are refused: a typo must not
 * record with a default. A message names the rule, never the value.
 *
 * | action | fields |
 * |---|---|
 * | `play` | `media_url` (https); `flow_url`? |
 * | `stream` | `ws_url` (wss); `sample_rate`? `"8k"` or `"16k"`; `chunk_size`? 20 to 2 000 ms in steps of 20; `record`?; `flow_url`? |
 * | `dial` | `to` (E.164 or `sip:`); `timeout`? 1 to 600 s; `record`?; `flow_url`?; `on_no_answer`?, `on_busy`?, `on_failure`? each a `play` or a `hangup` |
 * | `hangup` | none |
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
export const Action: GenericSchema<unknown, Action> = /* @__PURE__ */ variant(
  "action",
  [play, stream, dial, hangup],
  "must be play, stream, dial or hangup",
);
