// What is measured beside calls: signatures, notifications, and a whole call in the emulator. As in clients.ts, a
// build takes one export.
import { Client } from "outdial";
import { callbackHandler, signUrl, verifyUrl } from "outdial/callbacks";
import { createEmulator } from "outdial/emulator";
import { Webhook } from "standardwebhooks";
import { type Connect, type Place, params } from "./clients.ts";

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq=";
const urlSecret = "a secret that was made at random";
const url = "https://app.test/status";
const context = { order: 17 };
const body: string = /* @__PURE__ */ JSON.stringify({
  id: "evt_01HZX3V5J8Q2T4W6Y8A0C2E4G6",
  type: "call.completed",
  api_version: "2026-06-01",
  occurred_at: "2026-11-20T12:00:00.000Z",
  account_id: "ac_01HZX3V5J8Q2T4W6Y8A0C2E4G6",
  call_id: "cs_01HZX3V5J8Q2T4W6Y8A0C2E4G6",
  data: {
    call_id: "cs_01HZX3V5J8Q2T4W6Y8A0C2E4G6",
    from: "+12025550199",
    to: "+12025550100",
    duration: 42,
    hangup_time: "2026-11-20T12:00:00.000Z",
    reason: "normal",
  },
});

/** More secrets than any cache of their keys holds, so that each key is imported anew. */
const secrets = 1000;

/** Uses one secret after the other; each is 32 letters of base64. */
const withNewKeys = (make: (secret: string) => Place): Place => {
  const places = Array.from({ length: secrets }, (_, at) => make(String(at).padStart(32, "A")));
  let next = 0;
  return async () => (await places[next++ % secrets]?.()) ?? "";
};

const signing =
  (secret: string): Place =>
  () =>
    signUrl(url, { secret, context });

export const sign: Connect = () => signing(urlSecret);
export const signNewKeys: Connect = () => withNewKeys(signing);

export const verify: Connect = () => {
  const signed = signUrl(url, { secret: urlSecret, context });
  return async () => String((await verifyUrl(await signed, { secret: urlSecret })).order);
};

/** A request with a URL that a secret has signed, to its answer. */
const receivingUrl = (secret: string): Place => {
  const signed = signUrl(url, { secret, context });
  let received = "";
  const handler = callbackHandler({
    secret,
    onEvent: ({ event }) => {
      received = event.type;
    },
  });
  return async () => {
    received = "";
    await handler(new Request(await signed, { method: "POST", body }));
    return received;
  };
};

export const receiveUrl: Connect = () => receivingUrl(urlSecret);
export const receiveUrlNewKeys: Connect = () => withNewKeys(receivingUrl);

/** The headers of Standard Webhooks for the notification. */
const signedHeaders = (webhook: Webhook): Readonly<Record<string, string>> => {
  const at = new Date();
  return {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": webhook.sign("evt_1", at, body),
  };
};

/** A request with the headers of Standard Webhooks, to its answer. */
const receivingWebhook = (secret: string): Place => {
  const headers = signedHeaders(new Webhook(secret));
  let received = "";
  const handler = callbackHandler({
    webhookSecret: secret,
    onEvent: ({ event }) => {
      received = event.type;
    },
  });
  return async () => {
    received = "";
    await handler(new Request(url, { method: "POST", body, headers }));
    return received;
  };
};

export const receiveWebhook: Connect = () => receivingWebhook(webhookSecret);
export const receiveWebhookNewKeys: Connect = () =>
  withNewKeys((secret) => receivingWebhook(`whsec_${secret}`));

/** The signature of the `standardwebhooks` package. */
export const referenceSign: Connect = () => {
  const webhook = new Webhook(webhookSecret);
  return async () => webhook.sign("evt_1", new Date(), body);
};

/** The same request, verified with the `standardwebhooks` package as its manual does it. */
export const referenceReceive: Connect = () => {
  const webhook = new Webhook(webhookSecret);
  const headers = signedHeaders(webhook);
  let received = "";
  const handler = async (request: Request): Promise<Response> => {
    const event = webhook.verify(await request.text(), Object.fromEntries(request.headers));
    received = Reflect.get(Object(event), "call_id");
    return new Response(null, { status: 204 });
  };
  return async () => {
    received = "";
    await handler(new Request(url, { method: "POST", body, headers }));
    return received;
  };
};

/** A call from the request to its last notification: two API texts, a flow, four signed notifications. */
export const lifecycle: Connect = () => {
  const app = (request: Request): Response =>
    request.url === params.flow_url
      ? Response.json({ action: "hangup" })
      : new Response(null, { status: 204 });
  const { apiKey, fetch, ended } = createEmulator({ fetch: app, clock: "instant" });
  const client = new Client(apiKey, { baseUrl: "https://emulator.test", fetch });
  return async () => {
    const { id } = await client.calls.create(params);
    const { state, history } = await ended(id);
    if (state !== "completed" || history.length !== 11) throw new Error(`${state}, incomplete`);
    return id;
  };
};
