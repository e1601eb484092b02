import { callbackHandler } from "outdial/callbacks";
import { Webhook } from "standardwebhooks";
import type { Connect, Place } from "../clients/client.ts";
import { body, secret, url } from "./event.ts";

/** A request with the headers of Standard Webhooks, to its answer. */
export const receiving = (webhookSecret: string): Place => {
  const at = new Date();
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(webhookSecret).sign("evt_1", at, body),
  };
  let received = "";
  const handler = callbackHandler({
    webhookSecret,
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

export const connect: Connect = () => receiving(secret);
