import { custom } from "valibot";
import { carrierHead, carrierSettings } from "../../calls/carrier.ts";
import type { CallParams } from "../../calls/params.ts";
import type { EncodeFlow } from "../../flows/flow-in-request.ts";
import type { EncodedCall } from "../../http/post.ts";
import { fail, fieldsOf, isFunction } from "../../lib/check.ts";
import type { ApiKey, CarrierClient } from "../../options.ts";
import { onOneLine, tokenMaker } from "./jwt.ts";
import type { VonageSettings } from "./options.ts";
import { digitsOf } from "./wire.ts";

/**
 * The statuses after which Vonage has placed no call: a parameter, the token, the balance or a permission was wrong
 * (404 also stands for that), or too many requests, which it doesn't queue. For 408, 409 and 5xx nothing is written
 * about side effects.
 *
 * @see https://developer.vonage.com/en/api-errors and
 * https://developer.vonage.com/en/voice/voice-api/guides/troubleshooting
 */
const placedNothing = [400, 401, 403, 404, 429] as const;

/** Our field for each of Vonage's, by the beginning of its path: `to[0].number`. */
const fieldOf: Readonly<Record<string, keyof CallParams>> = {
  to: "to_number",
  from: "from_number",
  answer_url: "flow_url",
  event_url: "status_callback_url",
};

const fieldErrors = (list: unknown): unknown =>
  Array.isArray(list)
    ? list.map((each) => {
        const { name, reason, type } = fieldsOf(each);
        const [, field = ""] = /^(\w+)/.exec(String(name)) ?? [];
        return { loc: [Object.hasOwn(fieldOf, field) ? fieldOf[field] : name], msg: reason, type };
      })
    : undefined;

/** Vonage's JSON in outdial's own form. A refusal is a problem of RFC 7807, or one of two older forms. */
const decode = (text: string): unknown => {
  const body = fieldsOf(JSON.parse(text));
  const { uuid, type, title, detail = body.error_title ?? title } = body;
  if (uuid) return { ...body, id: uuid };
  return { type, detail, errors: fieldErrors(body.invalid_parameters) };
};

const headOf = carrierHead({ placedNothing, requestIdHeader: "x-nexmo-trace-id", decode });

const keyRule =
  "must be the application's private key: the PEM, not encrypted, or a function that returns it: is the environment variable set?";

const apiKey = custom<ApiKey>((key) => isFunction(key) || !!onOneLine(key), keyRule);

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

/** The body of Vonage's request, in the order of its own client. JSON leaves out what is undefined. */
const bodyFor = (
  params: CallParams,
  options: VonageSettings,
  encodeFlow: EncodeFlow<object>,
): string => {
  if (params.record) {
    fail("record", "must be left out: Vonage records by an action, stream(url, { record: true })");
  }
  const { machineDetection } = options;
  const { flow_url, status_callback_url } = params;
  const phone = (number: string) => ({ type: "phone", number: digitsOf(number) });
  return JSON.stringify({
    to: [phone(params.to_number)],
    from: phone(params.from_number),
    ...(flow_url === undefined
      ? { ncco: encodeFlow(params) }
      : { answer_url: [flow_url], answer_method: "POST" }),
    ...(status_callback_url !== undefined && {
      event_url: [status_callback_url],
      event_method: "POST",
    }),
    ringing_timer: seconds(options.ringTimeout),
    length_timer: seconds(options.timeLimit),
    ...(machineDetection === "message"
      ? { advanced_machine_detection: { behavior: "continue", mode: "detect_beep" } }
      : { machine_detection: machineDetection === "detect" ? "continue" : machineDetection }),
  });
};

/** How much of a token's signature is searched for in every spelling, in characters. */
const signaturePart = 48;

/** How calls are placed with Vonage. */
export const clientSide = (
  options: VonageSettings,
  encodeFlow: EncodeFlow<object>,
): CarrierClient => {
  const { applicationId, region } = options;
  const host = region ? `api-${region}.vonage.com` : "api.nexmo.com";
  const makeToken = tokenMaker(applicationId);
  return {
    settings: carrierSettings({ apiKey, baseUrl: `https://${host}` }),
    // A PEM itself is no legal header value, as every key must be.
    keyOf: onOneLine,
    encodeCall: async (params, baseUrl, key): Promise<EncodedCall> => {
      const body = bodyFor(params, options, encodeFlow);
      // Web Crypto's own error may quote the key.
      const token = await makeToken(key).catch(() => fail("apiKey", keyRule));
      return {
        url: `${baseUrl.replace(/\/+$/, "")}/v1/calls`,
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body,
        // Without this part of its signature a token is no use.
        secrets: [token.slice(-signaturePart)],
        pieces: [token, ...key.split(" ")],
        headOf,
      };
    },
  };
};
