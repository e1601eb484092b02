import { safeParse, strictObject } from "valibot";
import { type CallAtUrls, CallParams } from "../../calls/params.ts";
import type { ActionSchema } from "../../flows/by-action.ts";
import { WireAction } from "../../flows/wire.ts";
import { isRecord, presence } from "../../lib/check.ts";
import { routeOf } from "../../lib/url.ts";
import type { RequestedCall } from "../call.ts";
import type { Reach } from "../outgoing.ts";
import { plainUrlField } from "./flow.ts";

/** One error of one field. */
export interface FieldError {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

/** The error of a field that is absent. */
export const missing = (loc: readonly string[]): FieldError => ({
  loc,
  msg: "Field required",
  type: "missing",
});

const wrong = (name: string, msg: string, type = "value_error"): FieldError => ({
  loc: ["body", name],
  msg,
  type,
});

const { from_number, to_number, flow_url, status_callback_url, record } = CallParams.entries;
const numbers = { from_number, to_number };
const others = { status_callback_url: status_callback_url.wrapped, record };

/** A call whose flow is at a URL: the only one that a service with the basic actions takes. */
export const atUrl: ActionSchema<CallAtUrls> = strictObject(
  { ...numbers, flow_url: flow_url.wrapped, ...others },
  presence,
);

/** A call whose flow is in the request. */
export const withFlow: ActionSchema<
  Pick<RequestedCall, "from_number" | "to_number" | "status_callback_url" | "record"> & {
    readonly flow: WireAction;
  }
> = strictObject({ ...numbers, flow: WireAction, ...others }, presence);

/**
 * The fields of a call, or all errors in them.
 *
 * @param reach - where the URLs may lead
 * @param takesFlow - whether the flow may be in the request
 */
export const parseFields = (
  body: unknown,
  reach: Reach,
  takesFlow: boolean,
): RequestedCall | readonly FieldError[] => {
  if (!isRecord(body)) return [{ loc: ["body"], msg: "must be an object", type: "value_error" }];
  const schema = takesFlow && body.flow !== undefined ? withFlow : atUrl;
  const known: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (Object.hasOwn(schema.entries, name)) known[name] = value;
    else if (name === "flow_url") errors.push(wrong(name, "must be left out with flow"));
    else errors.push(wrong(name, "is unknown", "extra_forbidden"));
  }
  const { success, output, issues } = safeParse(schema, known);
  for (const { path, message } of issues ?? []) {
    const name = path?.map(({ key }) => String(key)).join(".") ?? "";
    errors.push(
      name in known || name.includes(".") ? wrong(name, message) : missing(["body", name]),
    );
  }
  for (const name of ["flow_url", "status_callback_url"]) {
    if (routeOf(known[name]) === "loopback" && !reach.has("loopback"))
      errors.push(wrong(name, "must be https"));
  }
  if (!success || errors.length > 0) return errors;
  if (!output.flow) return output;
  const plain = reach.has("loopback") ? undefined : plainUrlField(output.flow, "flow.");
  return plain ? [wrong(plain, "must be https or wss")] : { ...output, flow_url: "" };
};
