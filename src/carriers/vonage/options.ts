import { custom, type GenericSchema, optional, strictObject } from "valibot";
import { callRate, isSecret, wholeSeconds } from "../../lib/carrier-options.ts";
import { check, isFunction, isText, presence } from "../../lib/check.ts";
import type { SignatureSecret } from "./application.ts";
import type { VonageVoice } from "./ncco.ts";

/** The application at Vonage, and what its calls do beyond the fields of `calls.create`. */
export interface VonageOptions {
  /** The application's id, a UUID. Its private key is the client's key. */
  readonly applicationId: string;
  /**
   * The account's signature secret, or a function that returns it; while it is changed, a list. It verifies Vonage's
   * signatures of notifications and flow requests. Without it the signed URL alone proves where a request comes from.
   *
   * @defaultValue none
   */
  readonly signatureSecret?: SignatureSecret | undefined;
  /**
   * Whether Vonage finds out if a person or a machine answered, while the flow runs: the notification
   * `call.machine_detected` has the result. `"detect"` decides at once (Vonage's `"continue"`); `"message"` also waits for the
   * beep of a machine (advanced detection, `detect_beep`), for at most 45 s, and has `beep: true` then. Vonage's `"hangup"` ends
   * the call at a machine.
   *
   * @defaultValue left out, so Vonage's own: no detection
   */
  readonly machineDetection?: "detect" | "message" | "continue" | "hangup" | undefined;
  /**
   * Milliseconds that the callee's telephone rings, in whole seconds: 1 000 to 120 000.
   *
   * @defaultValue left out, so Vonage's own: 60 000
   */
  readonly ringTimeout?: number | undefined;
  /**
   * Milliseconds after which Vonage ends an answered call, in whole seconds: 1 000 to 86 400 000.
   *
   * @defaultValue left out, so Vonage's own: 7 200 000 (2 h)
   */
  readonly timeLimit?: number | undefined;
  /**
   * The data center that takes the calls, such as `"eu-3"`: that of the numbers, for the lowest latency.
   *
   * @defaultValue left out, so Vonage's own choice, at `api.nexmo.com`
   */
  readonly region?: "us-3" | "us-4" | "eu-3" | "eu-4" | "ap-3" | "ap-4" | undefined;
  /**
   * The voice of texts by their language, such as `{ "en-US": { style: 2, premium: true } }`. A text in another
   * language, or in none, gets style 0.
   *
   * @defaultValue none
   */
  readonly voice?: Readonly<Record<string, VonageVoice>> | undefined;
  /**
   * Calls that the account may begin in a second. Vonage refuses those above it (429): a campaign with a higher
   * `rate` doesn't open.
   *
   * @defaultValue 3, as Vonage documents it
   */
  readonly callsPerSecond?: number | undefined;
}

/** The checked options of an application. */
export type VonageSettings = Omit<VonageOptions, "callsPerSecond" | "voice"> & {
  readonly callsPerSecond: number;
};

const textLike = (pattern: RegExp, rule: string): GenericSchema<string> =>
  custom<string>((value) => isText(value) && pattern.test(value), rule);

const VonageSchema: GenericSchema<unknown, VonageSettings> = strictObject(
  {
    applicationId: textLike(
      /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
      "must be the application's id, a UUID",
    ),
    signatureSecret: optional(
      custom<SignatureSecret>(
        (value) => isFunction(value) || isSecret(value),
        "must be a string, not empty, or a function that returns it: is the environment variable set?",
      ),
    ),
    machineDetection: optional(
      custom<NonNullable<VonageOptions["machineDetection"]>>(
        (value) => isText(value) && /^(detect|message|continue|hangup)$/.test(value),
        'must be "detect", "message" or "hangup"',
      ),
    ),
    ringTimeout: optional(wholeSeconds(1000, 120_000)),
    timeLimit: optional(wholeSeconds(1000, 86_400_000)),
    region: optional(
      custom<NonNullable<VonageOptions["region"]>>(
        (value) => isText(value) && /^(us|eu|ap)-[34]$/.test(value),
        'must be "us-3", "us-4", "eu-3", "eu-4", "ap-3" or "ap-4"',
      ),
    ),
    callsPerSecond: callRate(3),
  },
  presence,
);

/**
 * The checked options of an application.
 *
 * @param read - returns the options; a getter of the caller's may throw in it
 * @throws {BadParametersException} that names each option and its rule
 */
export const settingsOf = (read: () => unknown): VonageSettings =>
  check(VonageSchema, read, "options");
