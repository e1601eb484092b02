import { custom, type GenericSchema, is, optional, strictObject } from "valibot";
import { CallParams } from "../calls/params.ts";
import { isFunction, isKey, isRecord, isText, presence, withoutThrowing } from "../lib/check.ts";
import { type VirtualClock, virtualTimeOf } from "../lib/clock.ts";
import { isPrivateKey } from "../lib/pem.ts";
import type { CallRecord } from "../server/history.ts";
import type { Send } from "../server/outgoing.ts";
import type { Callee } from "./callee-script.ts";
import type { Outcome } from "./scenarios.ts";

/**
 * Decides what the callee's telephone does; `undefined` leaves it to the number. An exception, an invalid
 * outcome, or no outcome within `responseTimeout` leaves it to the number, too, and is in the call's history.
 */
export type OnCall = (call: CallRecord) => Outcome | undefined | Promise<Outcome | undefined>;

/**
 * Faults on the way of notifications, as on real networks. Each is a probability from 0, never, to 1,
 * always; with the option `seed` it is the same on every run.
 */
export interface Faults {
  /** The notification is never sent. */
  readonly lost?: number | undefined;
  /** Once delivered, the notification is sent again after a while, with the same id. */
  readonly doubled?: number | undefined;
  /** The notification is sent after a while, and later ones overtake it. */
  readonly late?: number | undefined;
  /**
   * The longest delay of a late notification, in milliseconds by the emulator's clock.
   *
   * @defaultValue 10 000
   */
  readonly delay?: number | undefined;
  /**
   * The longest time until a doubled notification is sent again, in milliseconds by the emulator's clock.
   *
   * @defaultValue `delay`
   */
  readonly duplicateDelay?: number | undefined;
}

/** The carrier that an emulator stands for, and the account there. */
export interface EmulatedService {
  /** The name of the carrier: `"twilio"`, `"vonage"` or `"telnyx"`. */
  readonly name: string;
  /**
   * The account at the carrier: with Twilio its SID, `AC` and 32 hexadecimal digits; with Vonage the application's id;
   * with Telnyx the id of the TeXML application.
   */
  readonly account: string;
  /**
   * With Telnyx the account of its calls, which `accountSid` of `telnyx({ … })` names.
   *
   * @defaultValue `"f5586561-8ff0-4291-a51b-c7dfe4139ff9"`
   */
  readonly accountSid?: string | undefined;
}

/** Makes a WebSocket. */
export type SocketConstructor = new (url: string) => WebSocket;

/**
 * Options of an emulator. All durations are in milliseconds, by the emulator's clock, except
 * `responseTimeout`, which is in real time.
 *
 * @see docs/emulator.md
 */
export interface EmulatorOptions {
  /**
   * The carrier whose interface the emulator speaks: the object that `twilio({ … })` of `outdial/twilio` makes, or
   * `{ name: "twilio", account: "AC…" }`; or the same of Vonage or Telnyx. It is outdial's own interface without
   * one.
   */
  readonly service?: EmulatedService | undefined;
  /**
   * What a flow can do on outdial's own interface: `"all"` actions, which each flow request then announces, or the
   * `"basic"` ones, `play`, `stream`, `dial` and `hangup`, as the deployed service has them. Carriers have all.
   *
   * @defaultValue `"all"`
   */
  readonly actions?: "all" | "basic" | undefined;
  /**
   * The account's API key; with Twilio its auth token, which signs as well; with Vonage the application's private key,
   * a PEM.
   *
   * @defaultValue a new one: `ak_` and 43 base64url characters, with Twilio a token of 32 hexadecimal digits, with Telnyx
   * `KEY_` and 43 base64url characters; with Vonage a published key for tests
   */
  readonly apiKey?: string | undefined;
  /**
   * The numbers that the account may call from, in E.164.
   *
   * @defaultValue any number
   */
  readonly numbers?: readonly string[] | undefined;
  /**
   * Signs the notifications of outdial's own interface: `whsec_` and base64 of 24 to 64 bytes. With Vonage it is the
   * account's signature secret, any text. Twilio signs with `apiKey`, and the emulated Telnyx with a published test key:
   * leave it out there.
   *
   * @defaultValue a new one, of 32 bytes
   */
  readonly webhookSecret?: string | undefined;
  /**
   * The address or name that the emulator is bound to, when you serve it on a port. If it is loopback, a
   * call's URLs may be plain http on loopback. The URL of a request is not used for that, as its sender
   * chooses it.
   *
   * @defaultValue that of each request's URL: in process, nothing is bound
   */
  readonly host?: string | undefined;
  /**
   * Sends the emulator's own requests, to flows, media and receivers of notifications: a `fetch`, or an
   * application of yours that answers a `Request`. It is called without `this`, with a `Request` and an
   * object whose `signal` aborts once the response is no longer needed.
   *
   * @defaultValue the platform's `fetch`, looked up at each request
   */
  readonly fetch?: Send | undefined;
  /**
   * Opens the sockets of `stream` actions. With a service that signs its handshakes it is called with `{ headers }` too,
   * as Node, Deno, Bun and the package ws take it.
   *
   * @defaultValue the platform's `WebSocket`
   */
  readonly WebSocket?: SocketConstructor | undefined;
  /**
   * `"real"`: time passes. `"instant"`: nothing waits, everything happens in the same order, and
   * durations read as if time had passed. A call's time stands still while an application responds. A clock of
   * `virtualClock` of `outdial/testing`: the same, in one time of all calls and of the campaigns that have this clock.
   *
   * @defaultValue `"real"`
   */
  readonly clock?: "real" | "instant" | VirtualClock | undefined;
  /**
   * Allows media sockets on the instant clock or a virtual one, for tests of which messages are sent. The application's own time doesn't
   * jump with the call's, so how long something takes, and what the recording says of it, is wrong there. Without this,
   * a flow that opens one has an error.
   *
   * @defaultValue `false`
   */
  readonly untimedMedia?: boolean | undefined;
  /**
   * How many times faster than real time the real clock runs.
   *
   * @defaultValue 1
   */
  readonly speed?: number | undefined;
  /**
   * How long a telephone rings before somebody answers.
   *
   * @defaultValue 2 000
   */
  readonly ringDuration?: number | undefined;
  /**
   * How long a telephone may ring. Then the call fails with `no_answer`.
   *
   * @defaultValue 30 000
   */
  readonly answerTimeout?: number | undefined;
  /**
   * How long an answered call may last. Then it completes with `max_duration`. A shorter limit of the request for the call comes
   * first.
   *
   * @defaultValue that of the request, such as `timeLimit` and Vonage's two hours; else 3 600 000, an hour
   */
  readonly maxDuration?: number | undefined;
  /**
   * How long an application may take to respond, in real time.
   *
   * @defaultValue 10 000; with Twilio 15 000, with Vonage 5 000, with Telnyx 2 000 for notifications and 10 000 for
   * anything else
   */
  readonly responseTimeout?: number | undefined;
  /** Decides the outcome of each call, instead of the number that is called. */
  readonly onCall?: OnCall | undefined;
  /**
   * What the callee does after answering: an (async) generator function that yields the acts of each call,
   * or a list of acts. It continues while media is played and streams are open; its audio is sent in a
   * stream's messages. After the last act the callee is silent and stays.
   *
   * @defaultValue a tone of 440 Hz in every stream
   */
  readonly callee?: Callee | undefined;
  /**
   * Faults injected into notifications. An application must cope when they are lost, doubled, late and out
   * of order.
   *
   * @defaultValue none
   */
  readonly notifications?: Faults | undefined;
  /**
   * Makes ids and jitter the same on every run of the same calls, one after the other. Those ids contain
   * no time, but sort in the order in which they were made. Keys and secrets never depend on it.
   *
   * @defaultValue a random one
   */
  readonly seed?: number | undefined;
  /**
   * How many ended calls are kept.
   *
   * @defaultValue 1 000
   */
  readonly keep?: number | undefined;
}

/** The defaults that are plain values. */
export const emulatorDefaults = {
  clock: "real",
  speed: 1,
  ringDuration: 2_000,
  answerTimeout: 30_000,
  keep: 1_000,
} as const;

type WithDefault = keyof typeof emulatorDefaults | "fetch";

/** The options of an emulator, checked, their defaults filled in. */
export type EmulatorSettings = Omit<EmulatorOptions, WithDefault> & {
  readonly [Name in WithDefault]: NonNullable<EmulatorOptions[Name]>;
};

/** The URL of a host name or address; an IPv6 address gets brackets. */
export const urlOf = (host: string): string => `http://${host.includes(":") ? `[${host}]` : host}/`;

const isHost = (value: unknown): boolean =>
  isText(value) && /^[\w.:-]+$/.test(value) && !!withoutThrowing(() => new URL(urlOf(value)));

const isNumber = (value: unknown): value is number => typeof value === "number";

/** The rule of a duration. */
export const milliseconds: GenericSchema<number> = custom<number>(
  (value) => isNumber(value) && value >= 0 && value < 2 ** 31,
  "must be 0 ms or more and below 2 ** 31 ms",
);

const probability = custom<number>(
  (value) => isNumber(value) && value >= 0 && value <= 1,
  "must be a probability, from 0 to 1",
);

const isE164 = (value: unknown): boolean => is(CallParams.entries.from_number, value);

/** The rule and the default of each option; errors are reported in this order. */
export const EmulatorSettingsSchema: GenericSchema<unknown, EmulatorSettings> = strictObject(
  {
    service: optional(
      custom<EmulatedService>(
        (value) => isRecord(value) && isText(value.name) && isText(value.account),
        "must be a service, such as the one that twilio() makes",
      ),
    ),
    actions: optional(
      custom<"all" | "basic">(
        (value) => value === "all" || value === "basic",
        'must be "all" or "basic"',
      ),
    ),
    apiKey: optional(
      custom<string>(
        (value) => isKey(value) || (isText(value) && isPrivateKey(value)),
        "must be a string that is a legal header value",
      ),
    ),
    numbers: optional(
      custom<readonly string[]>(
        (value) => Array.isArray(value) && value.every(isE164),
        "must be a list of E.164 numbers",
      ),
    ),
    webhookSecret: optional(
      custom<string>((value) => isText(value) && value !== "", "must be a string, not empty"),
    ),
    host: optional(custom<string>(isHost, "must be an address, or a host's name")),
    fetch: optional(
      custom<Send>(isFunction, "must be a function"),
      () => (request: Request, init: RequestInit) => globalThis.fetch(request, init),
    ),
    WebSocket: optional(custom<SocketConstructor>(isFunction, "must be a constructor")),
    clock: optional(
      custom<"real" | "instant" | VirtualClock>(
        (value) => value === "real" || value === "instant" || virtualTimeOf(value) !== undefined,
        'must be "real", "instant" or a clock of virtualClock',
      ),
      emulatorDefaults.clock,
    ),
    untimedMedia: optional(
      custom<boolean>((value) => typeof value === "boolean", "must be a boolean"),
    ),
    speed: optional(
      custom<number>(
        (value) => isNumber(value) && value > 0 && value <= 10_000,
        "must be above 0 and at most 10 000",
      ),
      emulatorDefaults.speed,
    ),
    ringDuration: optional(milliseconds, emulatorDefaults.ringDuration),
    answerTimeout: optional(milliseconds, emulatorDefaults.answerTimeout),
    maxDuration: optional(milliseconds),
    responseTimeout: optional(milliseconds),
    onCall: optional(custom<OnCall>(isFunction, "must be a function")),
    callee: optional(
      custom<Callee>(
        (value) => isFunction(value) || Array.isArray(value),
        "must be a function or a list",
      ),
    ),
    notifications: optional(
      strictObject(
        {
          lost: optional(probability),
          doubled: optional(probability),
          late: optional(probability),
          delay: optional(milliseconds),
          duplicateDelay: optional(milliseconds),
        },
        presence,
      ),
    ),
    seed: optional(custom<number>(Number.isSafeInteger, "must be a whole number")),
    keep: optional(
      custom<number>(
        (value) => isNumber(value) && Number.isSafeInteger(value) && value >= 0,
        "must be a whole number from 0",
      ),
      emulatorDefaults.keep,
    ),
  },
  presence,
);
