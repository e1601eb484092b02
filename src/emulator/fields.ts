import { safeParse } from "valibot";
import { CallParams } from "../calls/params.ts";
import { isLoopback, routeOf } from "../url.ts";
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

const complaint = (
  name: string,
  body: Readonly<Record<string, unknown>>,
  msg: string,
): Complaint => {
  const loc = ["body", name];
  if (!(name in CallParams.entries)) return { loc, msg: "is unknown", type: "extra_forbidden" };
  return name in body ? { loc, msg, type: "value_error" } : missing(loc);
};

/**
 * The fields of a call, or all that is wrong with them. Plain http on loopback is for an emulator
 * that is itself on loopback.
 *
 * @param url - where the request came in
 */
export const readFields = (body: unknown, url: string): CallParams | readonly Complaint[] => {
  if (!isRecord(body)) return [{ loc: ["body"], msg: "must be an object", type: "value_error" }];
  const { success, output, issues } = safeParse(CallParams, body);
  if (!success) {
    return issues.map(({ path, message }) => complaint(String(path?.[0]?.key), body, message));
  }
  const plain = (["flow_url", "status_callback_url"] as const).filter(
    (name) => routeOf(output[name]) === "loopback" && !isLoopback(url),
  );
  if (plain.length === 0) return output;
  return plain.map((name) => complaint(name, body, "must be https"));
};
