import { custom } from "valibot";
import { carrierHead, carrierSettings } from "../../calls/carrier.ts";
import type { CallParams } from "../../calls/params.ts";
import type { EncodeFlow } from "../../flows/flow-in-request.ts";
import type { EncodedCall } from "../../http/post.ts";
import type { Head } from "../../http/response.ts";
import { fail, fieldsOf, isFunction, isKey } from "../../lib/check.ts";
import type { ApiKey, CarrierClient } from "../../options.ts";
import type { TelnyxSettings } from "./options.ts";
import { callPath, maxUrl, statusEvents } from "./wire.ts";

/**
 * The statuses that Telnyx documents for a request that it refused before it made a call: a malformed request, the
 * key, the balance or a permission, no such application, the wrong method, a parameter, and too many requests. For
 * 408, 409 and 5xx nothing is written about side effects.
 *
 * @see https://developers.telnyx.com/development/api-fundamentals/api-errors and
 * https://developers.telnyx.com/api-reference/texml-rest-commands/initiate-an-outbound-call
 */
const placedNothing = [400, 401, 402, 403, 404, 405, 415, 422, 429] as const;

/** Our field for each of Telnyx's, by the pointer of an error: `/To`. */
const fieldOf: Readonly<Record<string, keyof CallParams>> = {
  To: "to_number",
  From: "from_number",
  Url: "flow_url",
  StatusCallback: "status_callback_url",
  Record: "record",
};

/** An error about a field; `undefined` for one about the whole request. */
const fieldError = (error: unknown): unknown => {
  const { code, title, detail = title, source } = fieldsOf(error);
  const { pointer, parameter } = fieldsOf(source);
  const [, field] = /^\/?(\w+)/.exec(String(pointer ?? parameter ?? "")) ?? [];
  if (!field) return;
  return { loc: [Object.hasOwn(fieldOf, field) ? fieldOf[field] : field], msg: detail, type: code };
};

/** Telnyx's JSON in outdial's own form. Some pages show the call in `data`. */
const decode = (text: string): unknown => {
  const body = fieldsOf(JSON.parse(text));
  const call = { ...body, ...fieldsOf(body.data) };
  const id = call.call_sid ?? call.CallSid ?? call.sid;
  if (id) return { ...call, id };
  const problems: readonly unknown[] = Array.isArray(body.errors) ? body.errors : [];
  const { code, title, detail = title } = fieldsOf(problems[0]);
  const errors = problems.map(fieldError).filter(Boolean);
  return { code, detail, errors: errors.length ? errors : undefined };
};

const readHead = carrierHead({ placedNothing, requestIdHeader: "x-request-id", decode });

/** Telnyx sends the seconds until the next request is allowed in a header of its own. */
const headOf: NonNullable<EncodedCall["headOf"]> = (...args): Head => {
  const head = readHead(...args);
  return {
    ...head,
    header: (name) =>
      head.header(name) || (name === "retry-after" ? head.header("x-ratelimit-reset") : ""),
  };
};

const keyRule =
  "must be an API key of Telnyx's, printable and without spaces: is the environment variable set?";

/** A bearer token: printable, and no space in it. */
const isToken = (key: unknown): key is string => isKey(key) && !key.includes(" ");

const apiKey = custom<ApiKey>((key) => isFunction(key) || isToken(key), keyRule);

/** The carrier's own word for each of ours. */
const detectionOf = ({ machineDetection }: TelnyxSettings): string | undefined =>
  machineDetection?.replace("detect", "Enable").replace("message", "DetectMessageEnd");

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

/** The body of Telnyx's request. JSON leaves out what is undefined. */
const bodyFor = (
  params: CallParams,
  options: TelnyxSettings,
  encodeFlow: EncodeFlow<string>,
): string => {
  const { flow_url, status_callback_url } = params;
  for (const [param, url = ""] of Object.entries({ flow_url, status_callback_url })) {
    if (url.length > maxUrl) fail(param, `must be at most ${maxUrl} characters`);
  }
  return JSON.stringify({
    From: params.from_number,
    To: params.to_number,
    ...(flow_url === undefined
      ? { Texml: encodeFlow(params) }
      : // UrlMethod is its name in older versions of this request.
        { Url: flow_url, Method: "POST", UrlMethod: "POST" }),
    ...(status_callback_url !== undefined && {
      StatusCallback: status_callback_url,
      StatusCallbackMethod: "POST",
      StatusCallbackEvent: statusEvents,
    }),
    Timeout: seconds(options.ringTimeout),
    TimeLimit: seconds(options.timeLimit),
    Record: params.record,
    MachineDetection: detectionOf(options),
    DetectionMode: options.detectionMode,
  });
};

/** How calls are placed with Telnyx. */
export const clientSide = (
  options: TelnyxSettings,
  encodeFlow: EncodeFlow<string>,
): CarrierClient => ({
  settings: carrierSettings({ apiKey, baseUrl: "https://api.telnyx.com" }),
  encodeCall: (params, baseUrl, key): EncodedCall => {
    if (!isToken(key)) fail("apiKey", keyRule);
    return {
      url: baseUrl.replace(/\/+$/, "") + callPath(options.applicationId),
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: bodyFor(params, options, encodeFlow),
      headOf,
    };
  },
});
