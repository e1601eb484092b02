import Retell from "retell-sdk";
import { apiKey, type Connect, params } from "./client.ts";

export const connect: Connect = (baseURL) => {
  const client = new Retell({ apiKey, baseURL });
  const { from_number, to_number } = params;
  return async () => (await client.call.createPhoneCall({ from_number, to_number })).call_id;
};
