import { Client } from "@frejun/teler";
import { apiKey, type Connect, params } from "./client.ts";

export const connect: Connect = (baseUrl) => {
  const client = new Client(apiKey);
  // Its host is a constant; the axios instance that it keeps takes another.
  Reflect.get(client, "httpClient").defaults.baseURL = `${baseUrl}/api/v1`;
  return async () => (await client.calls.create({ ...params, record: true })).data.id;
};
