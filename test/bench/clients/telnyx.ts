import Telnyx from "telnyx";
import { apiKey, type Connect, params } from "./client.ts";

export const connect: Connect = (baseURL) => {
  const client = new Telnyx({ apiKey, baseURL });
  const { from_number: from, to_number: to } = params;
  return async () =>
    (await client.calls.dial({ connection_id: "1", from, to })).data?.call_control_id ?? "";
};
