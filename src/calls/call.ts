import { type CustomSchema, custom } from "valibot";
import { fieldsOf, isText } from "../lib/check.ts";

/** What `calls.create` gives: a placed call. */
export interface Call {
  /** The call's id at the service: the `call_id` of its notifications, unless the service gives others. */
  readonly id: string;
  /** Whatever else the service sent, as it sent it. */
  readonly [field: string]: unknown;
}

/**
 * A placed call: its `id`, and whatever else the service sent, as it sent it. Only the id is checked:
 * a call that was placed must not turn into an exception over a field that nobody needs.
 *
 * @example Read a call from a store
 * ```ts
 * import { Call } from "outdial/calls";
 * import { parse } from "valibot";
 *
 * const call = parse(Call, JSON.parse('{ "id": "cs_1", "record": true }'));
 * console.log(call.id); // cs_1
 * ```
 */
export const Call: CustomSchema<Call, string> = custom((value) => {
  const { id } = fieldsOf(value);
  return isText(id) && !!id;
}, "has no id");
