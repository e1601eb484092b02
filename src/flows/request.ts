import { custom, type GenericSchema, looseObject, optional } from "valibot";
import { isText } from "../lib/check.ts";

const text = custom<string>(isText, "must be a string");

/**
 * The request of the service at a flow URL, once the call is answered and again for each next step.
 *
 * @example Check a request that a queue has kept
 * ```ts
 * import { FlowRequest } from "outdial/flows";
 * import { is } from "valibot";
 *
 * console.log(is(FlowRequest, { call_id: "cs_1" })); // false: who calls whom is missing
 * ```
 */
export const FlowRequest: GenericSchema<unknown, FlowRequest> = looseObject(
  {
    call_id: text,
    account_id: text,
    from_number: text,
    to_number: text,
    direction: text,
    actions: optional(
      custom<readonly string[]>(
        (value) => Array.isArray(value) && value.every(isText),
        "must be a list of strings",
      ),
    ),
    digits: optional(text),
    dialed: optional(looseObject({ state: text, reason: optional(text) }, "must be an object")),
  },
  "is missing",
);

/** The call of the request. Further fields are kept. */
export interface FlowRequest {
  /** The id that `calls.create` gave. */
  readonly call_id: string;
  /** The account whose call it is. */
  readonly account_id: string;
  /** Who calls: E.164. */
  readonly from_number: string;
  /** Who is called: E.164. */
  readonly to_number: string;
  /** `"outbound"`. */
  readonly direction: string;
  /** The actions that the service has; without it, `play`, `stream`, `dial` and `hangup`. */
  readonly actions?: readonly string[] | undefined;
  /** After a `gather`: the keys that were pressed, or `""`. */
  readonly digits?: string | undefined;
  /** After a `dial`: what came of it. Its `duration` is in seconds. */
  readonly dialed?: { readonly state: string; readonly reason?: string | undefined } | undefined;
  /** Further fields of the service. */
  readonly [field: string]: unknown;
}
