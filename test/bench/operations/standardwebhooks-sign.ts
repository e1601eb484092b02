import { Webhook } from "standardwebhooks";
import type { Connect } from "../clients/client.ts";
import { body, secret } from "./event.ts";

export const connect: Connect = () => {
  const webhook = new Webhook(secret);
  return async () => webhook.sign("evt_1", new Date(), body);
};
