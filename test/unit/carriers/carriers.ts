import { verify } from "node:crypto";
import { telnyx, telnyxCalls } from "../../../src/carriers/telnyx/index.ts";
import { twilio, twilioCalls } from "../../../src/carriers/twilio/index.ts";
import { vonage, vonageCalls } from "../../../src/carriers/vonage/index.ts";
import type { CallService } from "../../../src/options.ts";
import type { Service } from "../../../src/service.ts";
import { publicKey as telnyxKey } from "../telnyx/sign.ts";
import { pem, pkcs1, publicKey, refusedKeys, unusableKeys } from "../vonage/keys.ts";

export const params = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow?a=1&b=2",
  status_callback_url: "https://app.test/status",
};

/** A carrier as the tests of its client side know it. */
export interface Carrier {
  readonly name: string;
  readonly service: Service;
  /** The same service by the function that only places calls. */
  readonly calls: CallService;
  /** The service with all that is secret in it, and pieces of that. */
  readonly secretive: Service;
  readonly pieces: readonly string[];
  readonly key: string;
  readonly otherKey: string;
  /** Fails unless a header Authorization is that of a key. */
  readonly isOf: (authorization: string, key: string) => boolean;
  readonly url: string;
  readonly contentType: string;
  /** Its answer to a call that it has placed, and what `create` returns. */
  readonly placed: { readonly status: number; readonly body: object; readonly id: string };
  /** Bodies of that status without a call in them. */
  readonly unreadable: readonly (readonly [name: string, body: string])[];
  /** The statuses after which nobody was called, and those after which nobody knows. */
  readonly statuses: { readonly no: readonly number[]; readonly maybe: readonly number[] };
  readonly requestIdHeader: string;
  /** The host of a service with other options. */
  readonly hosts: readonly (readonly [service: CallService, host: string])[];
  /** A refusal that repeats a text wherever it can. */
  readonly echo: (text: string) => { readonly body: object; readonly headers: HeadersInit };
  /** Spellings of secrets, of which the credentials of the request are one. */
  readonly secrets: readonly (readonly [name: string, textOf: (credentials: string) => string])[];
  /** Keys that are refused, by what they are. */
  readonly wrongKeys: readonly (readonly [name: string, key: string | undefined])[];
  /** Those that are seen to be wrong only when a call is signed. */
  readonly unusableKeys: readonly (readonly [name: string, key: string])[];
  /** What their refusal says. */
  readonly keyRule: string;
  /** Parameters and options that are refused besides those that no carrier takes. */
  readonly refused: readonly (readonly [param: string, input: object])[];
}

const sid = "AC0123456789abcdef0123456789abcdef";
const apiKeySid = "SK0123456789abcdef0123456789abcdef";
const token = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const basicOf = (key: string) => btoa(`${sid}:${key}`);
const basic = basicOf(token);

const everyCharacter = (text: string) =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");

const wrongKeys = [
  ["no key", undefined],
  ["an empty key", ""],
  ["a key of two lines", "a\nb"],
  ["a key in another script", "ключ-ключ"],
] as const;

const twilioCarrier: Carrier = {
  name: "twilio",
  service: twilio({ accountSid: sid }),
  calls: twilioCalls({ accountSid: sid }),
  secretive: twilio({ accountSid: sid, authToken: token, apiKeySid }),
  pieces: [token, basic, basic.slice(40)],
  key: token,
  otherKey: "second-key-of-the-account",
  isOf: (authorization, key) => authorization === `Basic ${basicOf(key)}`,
  url: `https://api.twilio.com/2010-04-01/Accounts/${sid}/Calls.json`,
  contentType: "application/x-www-form-urlencoded",
  placed: { status: 201, body: { sid: "CA1", status: "queued" }, id: "CA1" },
  unreadable: [
    ["no sid", '{"status":"queued"}'],
    ["an empty sid", '{"sid":""}'],
  ],
  statuses: {
    no: [400, 401, 403, 404, 405, 429],
    maybe: [307, 308, 402, 406, 408, 409, 410, 413, 415, 422, 425, 451, 499, 500, 502, 503, 504],
  },
  requestIdHeader: "twilio-request-id",
  hosts: [
    [twilio({ accountSid: sid, region: "ie1" }), "https://api.ie1.twilio.com"],
    [twilio({ accountSid: sid, edge: "dublin" }), "https://api.dublin.us1.twilio.com"],
    [
      twilio({ accountSid: sid, edge: "dublin", region: "ie1" }),
      "https://api.dublin.ie1.twilio.com",
    ],
  ],
  echo: (text) => ({
    body: { code: text, message: `You sent ${text} to us`, more_info: text },
    headers: { "twilio-request-id": text, "retry-after": text },
  }),
  secrets: [
    ["the key", () => token],
    ["the key in capitals", () => token.toUpperCase()],
    ["the key percent-encoded throughout", () => everyCharacter(token)],
    ["the Basic text", () => basic],
    ["the header", () => `Authorization: Basic ${basic}`],
    ["the Basic text percent-encoded", () => encodeURIComponent(basic)],
    ["the Basic text percent-encoded throughout", () => everyCharacter(basic)],
    ["the Basic text in base64url", () => basic.replaceAll("+", "-").replaceAll("/", "_")],
    ["the Basic text without padding", () => basic.replaceAll("=", "")],
    ["the Basic text JSON-escaped", () => basic.replaceAll("/", "\\/")],
    ["the key in base64", () => btoa(token)],
    ["most of the key", () => token.slice(0, 26)],
    ["the callee's number", () => params.to_number],
    ["the caller's number", () => "202 555 0177"],
  ],
  wrongKeys: [...wrongKeys, ["an account's SID", sid], ["an API key's SID", apiKeySid]],
  unusableKeys: [],
  keyRule: "apiKey must be the auth token",
  refused: [["status_callback_url", { status_callback_url: "https://app_1.test/status" }]],
};

const vonageId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";
const lines = pem.split("\n").filter((line) => /^[^-]{40}/.test(line));

/** Whether a text is a token that the key of `pem` has signed. */
const isSigned = (jwt: string): boolean => {
  const [head = "", claims = "", signature = ""] = jwt.split(".");
  const text = Buffer.from(`${head}.${claims}`);
  return verify("sha256", text, publicKey, Buffer.from(signature, "base64url"));
};

const vonageCarrier: Carrier = {
  name: "vonage",
  service: vonage({ applicationId: vonageId }),
  calls: vonageCalls({ applicationId: vonageId }),
  secretive: vonage({ applicationId: vonageId, signatureSecret: "the-signature-secret" }),
  pieces: [...lines, "the-signature-secret"],
  key: pem,
  otherKey: pkcs1,
  isOf: (authorization) =>
    /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/.test(authorization) && isSigned(authorization.slice(7)),
  url: "https://api.nexmo.com/v1/calls",
  contentType: "application/json",
  placed: {
    status: 201,
    body: {
      ...{ uuid: "63f61863-4a51-4f6b-86e1-46edebcf9356", status: "started" },
      ...{ direction: "outbound", conversation_uuid: "CON-1" },
    },
    id: "63f61863-4a51-4f6b-86e1-46edebcf9356",
  },
  unreadable: [
    ["no uuid", '{"status":"started"}'],
    ["an empty uuid", '{"uuid":""}'],
  ],
  statuses: {
    no: [400, 401, 403, 404, 429],
    maybe: [
      ...[307, 308, 402, 405, 406, 408, 409, 410, 413, 415, 422, 425, 451, 499],
      ...[500, 502, 503, 504],
    ],
  },
  requestIdHeader: "x-nexmo-trace-id",
  hosts: [[vonage({ applicationId: vonageId, region: "eu-3" }), "https://api-eu-3.vonage.com"]],
  echo: (text) => ({
    body: {
      ...{ type: text, title: `You sent ${text} to us`, detail: `You sent ${text} to us` },
      instance: text,
    },
    headers: { "x-nexmo-trace-id": text.replaceAll("\n", " "), "retry-after": "soon" },
  }),
  secrets: [
    ["the token", (jwt) => jwt],
    ["the header", (jwt) => `Authorization: Bearer ${jwt}`],
    ["the token percent-encoded throughout", everyCharacter],
    ["the token in base64", (jwt) => btoa(jwt)],
    ["most of the token", (jwt) => jwt.slice(0, -80)],
    ["the PEM", () => pem],
    ["the PEM on one line", () => pem.replaceAll("\n", " ")],
    ["the PEM JSON-escaped", () => JSON.stringify(pem)],
    ["a line of the PEM", () => lines[7] ?? ""],
    ["most of a line", () => lines[9]?.slice(0, 52) ?? ""],
    ["the callee's number", () => "12025550188"],
    ["the caller's number", () => "202 555 0177"],
  ],
  wrongKeys: [...wrongKeys, ...Object.entries(refusedKeys)],
  unusableKeys: Object.entries(unusableKeys),
  keyRule:
    "apiKey must be the application's private key: the PEM, not encrypted, or a function that returns it: is the environment variable set?",
  refused: [["to_number", { to_number: "12025550188" }]],
};

const telnyxId = "1494404757140276705";
const telnyxApiKey = "KEY0195E7A1C3F24B8D9_q1w2E3r4T5y6U7i8";
const call_sid = "v3:mdi91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg";

const telnyxCarrier: Carrier = {
  name: "telnyx",
  service: telnyx({ applicationId: telnyxId }),
  calls: telnyxCalls({ applicationId: telnyxId }),
  secretive: telnyx({ applicationId: telnyxId, publicKey: telnyxKey }),
  pieces: [telnyxApiKey],
  key: telnyxApiKey,
  otherKey: "KEY-the-second-of-the-account",
  isOf: (authorization, key) => authorization === `Bearer ${key}`,
  url: `https://api.telnyx.com/v2/texml/calls/${telnyxId}`,
  contentType: "application/json",
  placed: {
    status: 200,
    body: { from: params.from_number, to: params.to_number, status: "queued", call_sid },
    id: call_sid,
  },
  unreadable: [
    ["no id, as one page documents it", '{"from":"+1","to":"+2","status":"queued"}'],
    ["an empty id", '{"call_sid":""}'],
  ],
  statuses: {
    no: [400, 401, 402, 403, 404, 405, 415, 422, 429],
    maybe: [307, 308, 406, 408, 409, 410, 413, 425, 451, 499, 500, 502, 503, 504],
  },
  requestIdHeader: "x-request-id",
  hosts: [],
  echo: (text) => {
    const echo = `You sent ${text} to us`;
    return {
      body: {
        errors: [{ code: text, title: echo, detail: echo, source: { pointer: `/${text}` } }],
      },
      headers: { "x-request-id": text, "x-ratelimit-reset": text },
    };
  },
  secrets: [
    ["the key", () => telnyxApiKey],
    ["the key in capitals", () => telnyxApiKey.toUpperCase()],
    ["the key percent-encoded throughout", () => everyCharacter(telnyxApiKey)],
    ["the header", () => `Authorization: Bearer ${telnyxApiKey}`],
    ["the key in base64", () => btoa(telnyxApiKey)],
    ["most of the key", () => telnyxApiKey.slice(0, 30)],
    ["the callee's number", () => params.to_number],
    ["the caller's number", () => "202 555 0177"],
  ],
  wrongKeys: [...wrongKeys, ["a key with a space", "Bearer KEY1"]],
  unusableKeys: [],
  keyRule: "apiKey must be",
  refused: ["flow_url", "status_callback_url"].map((param) => [
    param,
    { [param]: `https://app.test/${"x".repeat(1984)}` },
  ]),
};

/** Every carrier of the package. */
export const carriers: readonly Carrier[] = [twilioCarrier, vonageCarrier, telnyxCarrier];
