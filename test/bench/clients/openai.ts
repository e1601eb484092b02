import OpenAI from "openai";
import { apiKey, type Connect, params } from "./client.ts";

/** No telephone: its plain POST with the same body, as the model of an SDK for many runtimes. */
export const connect: Connect = (baseURL) => {
  const client = new OpenAI({ apiKey, baseURL });
  return async () => (await client.post<{ id: string }>("/calls/initiate", { body: params })).id;
};
