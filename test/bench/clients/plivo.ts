import { Client } from "plivo";
import { type Connect, params } from "./client.ts";

/** Its calls go to a constant host, so another POST stands in: the same client, the same axios. */
export const connect: Connect = (baseUrl) => {
  const client = new Client("MA0123456789", "token", { url: `${baseUrl}/v1/Account/MA0123456789` });
  const { from_number, to_number } = params;
  return async () => {
    const sent = await client.messages.create(from_number, to_number, "text");
    return String(Reflect.get(sent, "messageUuid"));
  };
};
