import { custom, type GenericSchema, looseObject, optional, strictObject } from "valibot";
import { callRate, wholeSeconds } from "../../lib/carrier-options.ts";
import { check, fail, isFunction, isText, presence } from "../../lib/check.ts";
import type { PublicKey } from "./application.ts";
import { isPublicKey } from "./signature.ts";

/** The TeXML application at Telnyx, and what its calls do beyond the fields of `calls.create`. */
export interface TelnyxCallsOptions {
  /** The id of the TeXML application, digits. It is in the URL of every request. */
  readonly applicationId: string;
  /**
   * The account's public key, 32 bytes in base64, or a function that returns it; while it is rotated, a list. It
   * verifies Telnyx's signatures of notifications and flow requests. Without it the signed URL alone proves where a
   * request comes from.
   *
   * @defaultValue none
   */
  readonly publicKey?: PublicKey | undefined;
  /**
   * Whether Telnyx finds out if a person or a machine answered: `"detect"` decides at once (Telnyx's `"Enable"`), `"message"`
   * waits for the end of a machine's greeting (`"DetectMessageEnd"`); Telnyx's own words mean the same. `flow_url` is
   * requested only once that is decided: `onMachine` of `flowHandler` then decides for a machine.
   *
   * @defaultValue left out, so Telnyx's own: no detection
   */
  readonly machineDetection?: "detect" | "message" | "Enable" | "DetectMessageEnd" | undefined;
  /**
   * How it finds out: `"Premium"` is more exact and costs more. Needs `machineDetection`.
   *
   * @defaultValue left out, so Telnyx's own: `"Regular"`
   */
  readonly detectionMode?: "Premium" | "Regular" | undefined;
  /**
   * Milliseconds that the callee's telephone rings, in whole seconds: 5 000 to 120 000.
   *
   * @defaultValue left out, so Telnyx's own: 30 000
   */
  readonly ringTimeout?: number | undefined;
  /**
   * Milliseconds after which Telnyx ends a call, in whole seconds: 30 000 to 14 400 000.
   *
   * @defaultValue left out, so Telnyx's own: 14 400 000 (4 h)
   */
  readonly timeLimit?: number | undefined;
  /**
   * Calls that the account may begin in a second. Telnyx documents no rate, and refuses what is above the account's: a
   * campaign with a higher `rate` doesn't open.
   *
   * @defaultValue 1
   */
  readonly callsPerSecond?: number | undefined;
}

/** The options of `telnyx`: those of its calls, and the account that they belong to. */
export interface TelnyxOptions extends TelnyxCallsOptions {
  /**
   * The account's id: `AccountSid` of each notification, its `account_id`. `get` and `redirect` need it; without it
   * `end` uses a request that Telnyx calls deprecated.
   *
   * @defaultValue none
   */
  readonly accountSid?: string | undefined;
  /**
   * The voice of texts by their language, such as `{ "en-US": "Polly.Joanna" }`. A text in another
   * language, or in none, gets `alice` if it has a language: without a voice Telnyx speaks English.
   *
   * @defaultValue none
   */
  readonly voice?: Readonly<Record<string, string>> | undefined;
}

/** The checked options of an application. */
export type TelnyxSettings = Omit<TelnyxCallsOptions, "callsPerSecond"> & {
  readonly callsPerSecond: number;
};

/**
 * The account of the options of `telnyx`, and the others, unchecked. Its rule is here, as `telnyxCalls` would carry it
 * for nothing.
 *
 * @throws {BadParametersException} when `accountSid` breaks its rule
 */
export const accountOf = (
  read: () => unknown,
): { readonly accountSid: string | undefined; readonly others: unknown } => {
  const account = custom<string>(
    (value) => isText(value) && /^[\w-]{1,64}$/.test(value),
    "must be the id of an account: the account_id of its notifications",
  );
  const schema = looseObject({ accountSid: optional(account) }, presence);
  const { accountSid, ...others } = check(schema, read, "options");
  return { accountSid, others };
};

const TelnyxSchema: GenericSchema<unknown, TelnyxSettings> = strictObject(
  {
    applicationId: custom<string>(
      (value) => isText(value) && /^\d{1,30}$/.test(value),
      "must be the id of a TeXML application: digits, as a string",
    ),
    publicKey: optional(
      custom<PublicKey>(
        (value) =>
          isFunction(value) ||
          (!!value && [value].flat().length > 0 && [value].flat().every(isPublicKey)),
        "must be 32 bytes in base64, or a function: is the environment variable set?",
      ),
    ),
    machineDetection: optional(
      custom<NonNullable<TelnyxOptions["machineDetection"]>>(
        (value) => isText(value) && /^(detect|message|Enable|DetectMessageEnd)$/.test(value),
        'must be "detect" or "message"',
      ),
    ),
    detectionMode: optional(
      custom<NonNullable<TelnyxOptions["detectionMode"]>>(
        (value) => value === "Premium" || value === "Regular",
        'must be "Premium" or "Regular"',
      ),
    ),
    ringTimeout: optional(wholeSeconds(5000, 120_000)),
    timeLimit: optional(wholeSeconds(30_000, 14_400_000)),
    callsPerSecond: callRate(1),
  },
  presence,
);

/**
 * The checked options of an application.
 *
 * @param read - returns the options; a getter of the caller's may throw in it
 * @throws {BadParametersException} that names each option and its rule
 */
export const settingsOf = (read: () => unknown): TelnyxSettings => {
  const settings = check(TelnyxSchema, read, "options");
  const { detectionMode, machineDetection } = settings;
  // Telnyx would take it, and detect nothing.
  if (detectionMode && !machineDetection) fail("detectionMode", "needs machineDetection");
  return settings;
};
