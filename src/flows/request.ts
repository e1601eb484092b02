import { type GenericSchema, looseObject, string } from "valibot";

const text = /* @__PURE__ */ string("must be a string");

/**
 * What the service asks a flow URL with, once the call is answered and again for each next step.
 *
 * @example Check a request that a queue has kept
 * ```ts
 * import { FlowRequest } from "outdial/flows";
 * import { is } from "valibot";
 *
 * console.log(is(FlowRequest, { call_id: "cs_1" })); // false: who calls whom is missing
 * ```
 */
export const FlowRequest: GenericSchema<unknown, FlowRequest> = /* @__PURE__ */ looseObject(
  {
    call_id: text,
    account_id: text,
    from_number: text,
    to_number: text,
    direction: text,
  },
  "is missing",
);

/** The call that the service asks about. Fields that this table doesn't know are kept. */
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
  /** What the service sends beyond these fields. */
  readonly [field: string]: unknown;
}
