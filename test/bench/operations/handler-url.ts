import { callbackHandler, signUrl } from "outdial/callbacks";
import type { Connect, Place } from "../clients/client.ts";
import { body, url, urlSecret } from "./event.ts";

/** A request with a URL that a secret has signed, to its answer. */
export const receiving = (secret: string): Place => {
  const signed = signUrl(url, { secret, context: { order: 17 } });
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

export const connect: Connect = () => receiving(urlSecret);
