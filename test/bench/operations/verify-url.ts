import { signUrl, verifyUrl } from "outdial/callbacks";
import type { Connect } from "../clients/client.ts";
import { url, urlSecret as secret } from "./event.ts";

export const connect: Connect = () => {
  const signed = signUrl(url, { secret, context: { order: 17 } });
  return async () => String((await verifyUrl(await signed, { secret })).order);
};
