import {
  type CustomSchema,
  custom,
  type ErrorMessage,
  type GenericSchema,
  type OptionalSchema,
  optional,
  type StrictObjectIssue,
  type StrictObjectSchema,
  strictObject,
} from "valibot";
import { isText, presence, ruleSchema } from "../lib/check.ts";
import { urlRule } from "../lib/url.ts";

/** What `calls.create` takes: the parameters of a call, by the names that they have on the wire. */
export interface CallParams {
  /** Who calls: a number of the account's, in E.164: `+` and 7 to 15 digits. */
  readonly from_number: string;
  /** Who is called, in E.164: `+` and 7 to 15 digits. */
  readonly to_number: string;
  /**
   * Where the service asks what to do, once somebody has answered: an absolute `https:` URL of at most
   * 2083 characters, without user and password; `http:` on loopback only where `baseUrl` is, too.
   */
  readonly flow_url: string;
  /** Where the service sends notifications about the call: a URL by the same rule. */
  readonly status_callback_url: string;
  /**
   * Whether the call is recorded.
   *
   * @defaultValue `true`, filled in by the service: a call is recorded unless you say so
   */
  readonly record?: boolean | undefined;
}

const number: CustomSchema<string, string> = custom(
  (value) => isText(value) && /^\+[1-9]\d{6,14}$/.test(value),
  'must be an E.164 number: "+" and 7 to 15 digits',
);

const url: GenericSchema<string> = ruleSchema((value) => urlRule(value));

/** The rule of what is either so or not. */
export const flag: GenericSchema<boolean> = custom(
  (value) => typeof value === "boolean",
  "must be true or false",
);

/**
 * The parameters of a call, by the names they have on the wire. Unknown fields are refused: a typo
 * must not dial with a default.
 *
 * | field | shape | default |
 * |---|---|---|
 * | `from_number`, `to_number` | E.164: `+` and 7 to 15 digits | required |
 * | `flow_url`, `status_callback_url` | absolute `https:` URL of at most 2083 characters, without user and password; `http:` on loopback, which `create` takes only when `baseUrl` is itself on loopback | required |
 * | `record` | boolean | `true`, filled in by the service |
 *
 * @example Check a field of a form before the call
 * ```ts
 * import { CallParams } from "outdial/calls";
 * import { is } from "valibot";
 *
 * console.log(is(CallParams.entries.to_number, "0170 123")); // false
 * ```
 */
export const CallParams: StrictObjectSchema<
  {
    readonly from_number: CustomSchema<string, string>;
    readonly to_number: CustomSchema<string, string>;
    readonly flow_url: GenericSchema<string>;
    readonly status_callback_url: GenericSchema<string>;
    readonly record: OptionalSchema<GenericSchema<boolean>, undefined>;
  },
  ErrorMessage<StrictObjectIssue>
> = strictObject(
  {
    from_number: number,
    to_number: number,
    flow_url: url,
    status_callback_url: url,
    record: optional(flag),
  },
  presence,
);
