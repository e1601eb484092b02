import { safeParse } from "valibot";
import { CallParams } from "../../calls/params.ts";
import { routeOf } from "../../rules/url.ts";
import type { Complaint } from "./answer.ts";

const missing = (where: readonly string[]): Complaint => ({
  loc: where,
  msg: "Field required",
  type: "missing",
});

/** The complaint about a request without a key. */
export const keyMissing: Complaint = missing(["header", "x-api-key"]);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const wrong = (name: string, msg: string): Complaint => ({
  loc: ["body", name],
  msg,
  type: "value_error",
});

/**
 * The fields of a call, or all that is wrong with them.
 *
 * @param local - whether plain http on loopback is allowed
 */
export const readFields = (body: unknown, local: boolean): CallParams | readonly Complaint[] => {
  if (!isRecord(body)) return [{ loc: ["body"], msg: "must be an object", type: "value_error" }];
  const known: Record<string, unknown> = {};
  const complaints: Complaint[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (Object.hasOwn(CallParams.entries, name)) known[name] = value;
    else complaints.push({ loc: ["body", name], msg: "is unknown", type: "extra_forbidden" });
  }
  const { success, output, issues } = safeParse(CallParams, known);
  for (const { path, message } of issues ?? []) {
    const name = String(path?.[0].key);
    complaints.push(name in known ? wrong(name, message) : missing(["body", name]));
  }
  for (const name of ["flow_url", "status_callback_url"]) {
    if (routeOf(known[name]) === "loopback" && !local) {
      complaints.push(wrong(name, "must be https"));
    }
  }
  return success && complaints.length === 0 ? output : complaints;
};
