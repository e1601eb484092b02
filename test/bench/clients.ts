// Everyone who places the call: outdial, the floors and the peers, each as its manual says. A build takes one
// export, and esbuild drops the rest with its packages, so no statement outside a function
// has side effects.
import { Client as TelerClient } from "@frejun/teler";
import { VapiClient } from "@vapi-ai/server-sdk";
import { Auth } from "@vonage/auth";
import { Voice } from "@vonage/voice";
import kyDefault from "ky";
import OpenAI from "openai";
import { Client, calls } from "outdial";
import { Client as FetchClient, calls as fetchCalls } from "outdial/fetch";
import { telnyxCalls } from "outdial/telnyx";
import { twilioCalls } from "outdial/twilio";
import { vonageCalls } from "outdial/vonage";
import { Client as PlivoClient } from "plivo";
import Retell from "retell-sdk";
import Telnyx from "telnyx";
import twilioDefault from "twilio";
import type { RequestOptions } from "twilio/lib/base/RequestClient.js";
import { placeByHand } from "./floor.ts";

/** Does once what is measured, and resolves with the id in the answer. */
export type Place = () => Promise<string>;

/** Makes a client that calls a server of the bench. The signal is for the clients that are measured with one. */
export type Connect = (baseUrl: string, signal?: AbortSignal) => Place;

const apiKey = "ak_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

const from_number = "+12025550199";
const to_number = "+12025550100";
const flow_url = "https://app.test/flow";
const status_callback_url = "https://app.test/status";

/** The call that everyone places, or as much of it as the peer's own POST takes. */
export const params = { from_number, to_number, flow_url, status_callback_url } as const;

const id = "cs_01HZX3V5J8Q2T4W6Y8A0C2E4G6";

/** An answer of the server and the stubs. */
interface Answer {
  readonly status: number;
  readonly body: string;
}

/** An id under every name that a client reads. */
const common: Answer = /* @__PURE__ */ ((): Answer => ({
  status: 202,
  body: JSON.stringify({
    message: "Call accepted.",
    data: { id, call_control_id: id, from_number, to_number },
    id,
    call_id: id,
    sid: id,
    uuid: id,
    message_uuid: id,
  }),
}))();

const accountSid = "AC0123456789abcdef0123456789abcdef";
const callSid = "CA0123456789abcdef0123456789abcdef";

/** A call as Twilio answers it, with all of its fields. */
const twilioAnswer: Answer = /* @__PURE__ */ ((): Answer => {
  const path = `/2010-04-01/Accounts/${accountSid}/Calls/${callSid}`;
  const parts = ["Events", "Notifications", "Payments", "Recordings", "Siprec", "Streams"];
  const names = parts.map((part) => [part.toLowerCase(), `${path}/${part}.json`]);
  return {
    status: 201,
    body: JSON.stringify({
      ...{ account_sid: accountSid, annotation: null, answered_by: null },
      ...{ api_version: "2010-04-01", caller_name: null, date_created: null, date_updated: null },
      ...{ direction: "outbound-api", duration: null, end_time: null, forwarded_from: null },
      ...{ from: from_number, from_formatted: "(202) 555-0199", group_sid: null },
      ...{ parent_call_sid: null, phone_number_sid: "", price: null, price_unit: "USD" },
      ...{ queue_time: "0", sid: callSid, start_time: null, status: "queued" },
      subresource_uris: Object.fromEntries(names),
      ...{ to: to_number, to_formatted: "(202) 555-0100", trunk_sid: null, uri: `${path}.json` },
    }),
  };
})();

/** A call as Vonage answers it. */
const vonageAnswer: Answer = /* @__PURE__ */ ((): Answer => ({
  status: 201,
  body: JSON.stringify({
    uuid: "63f61863-4a51-4f6b-86e1-46edebcf9356",
    status: "started",
    direction: "outbound",
    conversation_uuid: "CON-f972836a-550f-45fa-956c-12a2ab5b7d22",
  }),
}))();

/** A call as Telnyx answers it for a TeXML application. */
const telnyxAnswer: Answer = /* @__PURE__ */ ((): Answer => ({
  status: 200,
  body: JSON.stringify({
    from: from_number,
    to: to_number,
    status: "queued",
    call_sid: "v3:MdI91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg",
  }),
}))();

/** What the server and the stubs answer at a URL: a carrier's path as the carrier does. */
export const answerTo = (url: string): Answer => {
  const { pathname } = new URL(url, "http://127.0.0.1");
  if (pathname.startsWith("/2010-04-01/")) return twilioAnswer;
  if (pathname.startsWith("/v2/texml/")) return telnyxAnswer;
  return pathname === "/v1/calls" ? vonageAnswer : common;
};

export const outdial: Connect = (baseUrl, signal) => {
  const client = new Client(apiKey, { baseUrl, signal });
  return async () => (await client.calls.create(params)).id;
};

export const outdialCalls: Connect = (baseUrl, signal) => async () =>
  (await calls.create(params, { apiKey, baseUrl, signal })).id;

export const outdialFetch: Connect = (baseUrl, signal) => {
  const client = new FetchClient(apiKey, { baseUrl, signal });
  return async () => (await client.calls.create(params)).id;
};

export const outdialFetchCalls: Connect = (baseUrl, signal) => async () =>
  (await fetchCalls.create(params, { apiKey, baseUrl, signal })).id;

/** The key with which calls are signed; the Worker of `carriers` brings its own. */
const rsaKey = (): string => globalThis.process?.env.BENCH_RSA_KEY ?? "";

const applicationId = "00000000-0000-4000-8000-000000000000";

/** A TeXML application. */
const texml = "1773070540731319841";

export const outdialTwilio: Connect = (baseUrl) => {
  const client = new FetchClient("token", { baseUrl, service: twilioCalls({ accountSid }) });
  return async () => (await client.calls.create(params)).id;
};

export const outdialVonage: Connect = (baseUrl) => {
  const client = new FetchClient(rsaKey(), { baseUrl, service: vonageCalls({ applicationId }) });
  return async () => (await client.calls.create(params)).id;
};

export const outdialTelnyx: Connect = (baseUrl) => {
  const client = new FetchClient(apiKey, {
    baseUrl,
    service: telnyxCalls({ applicationId: texml }),
  });
  return async () => (await client.calls.create(params)).id;
};

export const floor: Connect = (baseUrl, signal) => async () =>
  (await placeByHand(params, { apiKey, baseUrl, signal })).id;

/** The floor through ky, with the options that outdial gives it: how much of outdial's figure is ky's. */
export const ky: Connect = (baseUrl) => async () => {
  const send = (url: string, init: RequestInit) =>
    kyDefault.post(url, {
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      fetch: () => fetch(url, init),
    });
  return (await placeByHand(params, { apiKey, baseUrl, send })).id;
};

export const teler: Connect = (baseUrl) => {
  const client = new TelerClient(apiKey);
  // Its host is a constant; its axios instance takes another.
  Reflect.get(client, "httpClient").defaults.baseURL = `${baseUrl}/api/v1`;
  // It resolves with the whole answer, which its types don't say.
  return async () => Reflect.get(await client.calls.create({ ...params, record: true }), "data").id;
};

export const twilio: Connect = (baseUrl) => {
  /** Its own HTTP client, sent to another host as its manual does for proxies. */
  class Loopback extends twilioDefault.RequestClient {
    override request<T>(options: RequestOptions<T>) {
      return super.request<T>({ ...options, uri: baseUrl + new URL(options.uri).pathname });
    }
  }
  const client = twilioDefault(accountSid, "token", { httpClient: new Loopback() });
  const call = {
    from: from_number,
    to: to_number,
    url: flow_url,
    statusCallback: status_callback_url,
    statusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
  };
  return async () => (await client.calls.create(call)).sid;
};

export const telnyx: Connect = (baseURL) => {
  const client = new Telnyx({ apiKey, baseURL });
  const call = { connection_id: "1", from: from_number, to: to_number };
  return async () => (await client.calls.dial(call)).data?.call_control_id ?? "";
};

/** A call of a TeXML application, as outdial's. */
export const telnyxTexml: Connect = (baseUrl) => {
  const client = new Telnyx({ apiKey, baseURL: `${baseUrl}/v2` });
  const call = {
    ...{ From: from_number, To: to_number, Url: flow_url, Method: "POST" as const },
    ...{ StatusCallback: status_callback_url, StatusCallbackMethod: "POST" },
    StatusCallbackEvent: "initiated ringing answered completed",
  };
  return async () => (await client.texml.calls.create(texml, call)).call_sid;
};

/** The host of its calls is fixed, so another POST stands in: the same client, the same axios. */
export const plivo: Connect = (baseUrl) => {
  const url = `${baseUrl}/v1/Account/MA0123456789`;
  const client = new PlivoClient("MA0123456789", "token", { url });
  return async () => {
    const sent = await client.messages.create(from_number, to_number, "text");
    return String(Reflect.get(sent, "messageUuid"));
  };
};

/** It signs a JWT with RSA for each call. */
export const vonage: Connect = (baseUrl) => {
  const auth = new Auth({ applicationId, privateKey: rsaKey() });
  const voice = new Voice(auth, { apiHost: baseUrl });
  return async () => {
    const { uuid } = await voice.createOutboundCall({
      to: [{ type: "phone", number: to_number.slice(1) }],
      from: { type: "phone", number: from_number.slice(1) },
      answerUrl: [flow_url],
      eventUrl: [status_callback_url],
    });
    return uuid;
  };
};

export const vapi: Connect = (baseUrl) => {
  const client = new VapiClient({ token: apiKey, baseUrl });
  const customer = { number: to_number };
  return async () => {
    const call = await client.calls.create({ assistantId: "1", phoneNumberId: "1", customer });
    return "id" in call ? call.id : "";
  };
};

export const retell: Connect = (baseURL) => {
  const client = new Retell({ apiKey, baseURL });
  return async () => (await client.call.createPhoneCall({ from_number, to_number })).call_id;
};

/** No telephone calls: a plain POST of the same body, as an example of an SDK for many runtimes. */
export const openai: Connect = (baseURL) => {
  const client = new OpenAI({ apiKey, baseURL });
  return async () => (await client.post<{ id: string }>("/calls/initiate", { body: params })).id;
};
