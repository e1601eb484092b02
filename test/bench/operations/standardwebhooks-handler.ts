import { Webhook } from "standardwebhooks";
import type { Connect } from "../clients/client.ts";
import { body, secret, url } from "./event.ts";

/** The same request, verified with the `standardwebhooks` package, as its manual does it. */
export const connect: Connect = () => {
  const webhook = new Webhook(secret);
  const at = new Date();
  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": webhook.sign("evt_1", at, body),
  };
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
