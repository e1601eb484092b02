import { callbackHandler } from "outdial/callbacks";
import { Webhook } from "standardwebhooks";
import type { Connect } from "../clients/client.ts";
import { body, secret, url } from "./event.ts";

/** A request with Standard Webhooks headers, to its answer. */
export const connect: Connect = () => {
  const at = new Date();
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("evt_1", at, body),
  };
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
