import { signUrl, verifyUrl } from "outdial/callbacks";
import type { Connect } from "../clients/client.ts";
import { urlSecret as secret, url } from "./event.ts";

export const connect: Connect = () => {
  const signed = signUrl(url, { secret, context: { order: 17 } });
  return async () => String((await verifyUrl(await signed, { secret })).order);
};
