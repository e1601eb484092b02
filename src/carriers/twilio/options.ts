import { custom, type GenericSchema, optional, strictObject } from "valibot";
import { callRate, isSecret, wholeSeconds } from "../../lib/carrier-options.ts";
import { check, isFunction, isText, presence } from "../../lib/check.ts";
import type { AuthToken } from "./application.ts";

/** The account at Twilio, and what its calls do beyond the fields of `calls.create`. */
export interface TwilioOptions {
  /** The account's SID: `AC` and 32 hexadecimal digits. It is in the URL of every request, also with an API key. */
  readonly accountSid: string;
  /**
   * The account's primary auth token, or a function that returns it; while it is rotated, a list. It verifies Twilio's
   * signatures of notifications and flow requests. It places no calls: that is the client's key. Without it the
   * signed URL alone proves where a request comes from.
   *
   * @defaultValue none
   */
  readonly authToken?: AuthToken | undefined;
  /**
   * The SID of an API key, `SK` and 32 hexadecimal digits: the client's key is then that API key's secret. Without it
   * the client's key is the auth token.
   *
   * @defaultValue none
   */
  readonly apiKeySid?: string | undefined;
  /**
   * Whether Twilio finds out if a person or a machine answered: `"detect"` decides at once (Twilio's `"Enable"`), `"message"`
   * waits for the end of a machine's greeting (`"DetectMessageEnd"`); Twilio's own words mean the same. `flow_url` is
   * requested only once that is decided: `onMachine` of `flowHandler` then decides for a machine.
   *
   * @defaultValue left out, so Twilio's own: no detection
   */
  readonly machineDetection?: "detect" | "message" | "Enable" | "DetectMessageEnd" | undefined;
  /**
   * Milliseconds that the callee's telephone rings, in whole seconds: 1 000 to 600 000. Twilio may add 5 s.
   *
   * @defaultValue left out, so Twilio's own: 60 000
   */
  readonly ringTimeout?: number | undefined;
  /**
   * Milliseconds after which Twilio ends an answered call, in whole seconds: 1 000 to 86 400 000.
   *
   * @defaultValue left out, so the account's own: 14 400 000 (4 h) unless Twilio allows more
   */
  readonly timeLimit?: number | undefined;
  /**
   * The region that processes the calls, such as `"ie1"`; its credentials are others than those of `us1`.
   *
   * @defaultValue left out, so Twilio's own: `us1`
   */
  readonly region?: string | undefined;
  /**
   * The edge location by which Twilio's network is entered, such as `"dublin"`.
   *
   * @defaultValue left out, so Twilio's own choice
   */
  readonly edge?: string | undefined;
  /**
   * The voice of texts by their language, such as `{ "en-US": "Polly.Joanna-Neural" }`. A text in another
   * language, or in none, gets that of the account's settings.
   *
   * @defaultValue none
   */
  readonly voice?: Readonly<Record<string, string>> | undefined;
  /**
   * Calls that the account may begin in a second. Twilio queues those above it, and a queued call may ring hours later:
   * a campaign with a higher `rate` is refused.
   *
   * @defaultValue 1, as a new account has
   */
  readonly callsPerSecond?: number | undefined;
}

/** The checked options of an account. */
export type TwilioSettings = Omit<TwilioOptions, "callsPerSecond" | "voice"> & {
  readonly callsPerSecond: number;
};

/** A SID, by its prefix. */
const sid = (prefix: "AC" | "SK"): GenericSchema<string> =>
  custom(
    (value) => isText(value) && new RegExp(`^${prefix}[\\da-fA-F]{32}$`).test(value),
    `must be "${prefix}" and 32 hexadecimal digits`,
  );

/** A part of a host's name. */
const label: GenericSchema<string> = custom(
  (value) => isText(value) && /^[a-z][a-z\d-]{1,30}$/.test(value),
  "must be a name of letters and digits",
);

const TwilioSchema: GenericSchema<unknown, TwilioSettings> = strictObject(
  {
    accountSid: sid("AC"),
    authToken: optional(
      custom<AuthToken>(
        (value) => isFunction(value) || isSecret(value),
        "must be a string, or a function: is the environment variable set?",
      ),
    ),
    apiKeySid: optional(sid("SK")),
    machineDetection: optional(
      custom<NonNullable<TwilioOptions["machineDetection"]>>(
        (value) => isText(value) && /^(detect|message|Enable|DetectMessageEnd)$/.test(value),
        'must be "detect" or "message"',
      ),
    ),
    ringTimeout: optional(wholeSeconds(1000, 600_000)),
    timeLimit: optional(wholeSeconds(1000, 86_400_000)),
    region: optional(label),
    edge: optional(label),
    callsPerSecond: callRate(1),
  },
  presence,
);

/**
 * The checked options of an account.
 *
 * @param read - returns the options; a getter of the caller's may throw in it
 * @throws {BadParametersException} that names each option and its rule
 */
export const settingsOf = (read: () => unknown): TwilioSettings =>
  check(TwilioSchema, read, "options");
