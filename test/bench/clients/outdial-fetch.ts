import { Client } from "outdial/fetch";
import { apiKey, type Connect, params } from "./client.ts";

export const connect: Connect = (baseUrl, signal) => {
  const client = new Client(apiKey, { baseUrl, signal });
  return async () => (await client.calls.create(params)).id;
};
