import { custom } from "valibot";
import { carrierHead, carrierSettings } from "../../calls/carrier.ts";
import type { CallParams } from "../../calls/params.ts";
import type { EncodeFlow } from "../../flows/flow-in-request.ts";
import type { EncodedCall } from "../../http/post.ts";
import { fail, fieldsOf, isFunction, isKey } from "../../lib/check.ts";
import type { ApiKey, CarrierClient } from "../../options.ts";
import type { TwilioSettings } from "./options.ts";

/** The notifications that are asked for: without a list Twilio sends the last one alone. */
const statusEvents = ["initiated", "ringing", "answered", "completed"] as const;

/**
 * Connection overrides in the fragment of a status callback's URL: five retries after a connect that fails, a read
 * that times out and a 5xx. Without them Twilio retries a failed connect once. It keeps the fragment to itself.
 */
const redelivery = "#rc=5&rp=ct,rt,5xx";

/**
 * The statuses that Twilio documents for a request that it refused before it made a call: validation, credentials,
 * permission, no such account, wrong method, and too many requests, "never processed" (error 20429). For 408, 409
 * and 5xx nothing is written about side effects.
 *
 * @see https://www.twilio.com/docs/usage/twilios-response
 */
const placedNothing = [400, 401, 403, 404, 405, 429] as const;

/** The errors of the Calls resource that are about one field. */
const fieldErrors: readonly (readonly [field: keyof CallParams, codes: RegExp])[] = [
  ["to_number", /^212(01|1[14-79])$/],
  ["from_number", /^2121[023]$/],
  ["flow_url", /^21205$/],
];

/** Twilio's JSON in outdial's own form. */
const decode = (text: string): unknown => {
  const body = fieldsOf(JSON.parse(text));
  const { sid, code, message } = body;
  if (sid) return { ...body, id: sid };
  const field = fieldErrors.find(([, codes]) => codes.test(String(code)));
  const errors = field && [{ loc: field.slice(0, 1), msg: message, type: code }];
  return { code, detail: message, errors };
};

const headOf = carrierHead({ placedNothing, requestIdHeader: "twilio-request-id", decode });

const keyRule =
  "must be the auth token or the API key's secret, not a SID: is the environment variable set?";

const isSecret = (key: unknown): boolean => isKey(key) && !/^(AC|SK)[\da-f]{32}$/i.test(key);

const apiKey = custom<ApiKey>((key) => isFunction(key) || isSecret(key), keyRule);

/** The carrier's own word for each of ours. */
const detectionOf = ({ machineDetection }: TwilioSettings): string | undefined =>
  machineDetection?.replace("detect", "Enable").replace("message", "DetectMessageEnd");

const seconds = (milliseconds: number | undefined): string | undefined =>
  milliseconds === undefined ? undefined : String(milliseconds / 1000);

/** The fields about notifications. */
const statusFields = (url: string | undefined): readonly (readonly [string, string])[] => {
  if (url === undefined) return [];
  if (/^[^/]*\/\/[^/?#]*_/.test(url)) {
    fail("status_callback_url", "must be without an underscore in its host");
  }
  return [
    ["StatusCallback", url.includes("#") ? url : url + redelivery],
    ...statusEvents.map((event) => ["StatusCallbackEvent", event] as const),
    ["StatusCallbackMethod", "POST"],
  ];
};

/** The fields of Twilio's request, in the order of its own client. */
const fieldsFor = (
  params: CallParams,
  options: TwilioSettings,
  encodeFlow: EncodeFlow<string>,
): string => {
  const { record, flow_url } = params;
  const fields: readonly (readonly [name: string, value: string | undefined])[] = [
    ["To", params.to_number],
    ["From", params.from_number],
    ["Method", flow_url && "POST"],
    ...statusFields(params.status_callback_url),
    ["Timeout", seconds(options.ringTimeout)],
    ["Record", record?.toString()],
    ["MachineDetection", detectionOf(options)],
    ["TimeLimit", seconds(options.timeLimit)],
    ["Url", flow_url],
    ["Twiml", encodeFlow(params)],
  ];
  const given = fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  // As Twilio's own client spells them.
  return `${new URLSearchParams(given)}`.replaceAll("*", "%2A").replaceAll("%7E", "~");
};

/** The host of a region, as Twilio's own client finds it. */
export const hostOf = ({ edge, region = edge && "us1" }: TwilioSettings): string =>
  ["api", edge, region, "twilio.com"].filter(Boolean).join(".");

/** How calls are placed with Twilio. */
export const clientSide = (
  options: TwilioSettings,
  encodeFlow: EncodeFlow<string>,
): CarrierClient => {
  const { accountSid, apiKeySid = accountSid } = options;
  return {
    settings: carrierSettings({ apiKey, baseUrl: `https://${hostOf(options)}` }),
    encodeCall: (params, baseUrl, key): EncodedCall => {
      if (!isSecret(key)) fail("apiKey", keyRule);
      const basic = btoa(`${apiKeySid}:${key}`);
      return {
        url: `${baseUrl.replace(/\/+$/, "")}/2010-04-01/Accounts/${accountSid}/Calls.json`,
        headers: {
          Authorization: `Basic ${basic}`,
          "Content-Type": "application/x-www-form-urlencoded",
        },
        body: fieldsFor(params, options, encodeFlow),
        secrets: [basic],
        headOf,
      };
    },
  };
};
