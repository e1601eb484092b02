import { callbackHandler, signUrl } from "outdial/callbacks";
import type { Connect } from "../clients/client.ts";
import { body, urlSecret as secret, url } from "./event.ts";

/** A request with a signed URL, to its answer. */
export const connect: Connect = () => {
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
