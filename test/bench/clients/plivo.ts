import { Client } from "plivo";
import { type Connect, params } from "./client.ts";

/** Its calls go to a constant host, so another POST stands in: the same client, the same axios. */
export const connect: Connect = (baseUrl) => {
  const client = new Client("MA0123456789", "token", { url: `${baseUrl}/v1/Account/MA0123456789` });
  return async () => {
    const made = await client.applications.create("call", { answerUrl: params.flow_url });
    return String(Reflect.get(made, "appId"));
  };
};
