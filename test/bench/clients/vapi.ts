import { VapiClient } from "@vapi-ai/server-sdk";
import { apiKey, type Connect, params } from "./client.ts";

export const connect: Connect = (baseUrl) => {
  const client = new VapiClient({ token: apiKey, baseUrl });
  const customer = { number: params.to_number };
  return async () => {
    const call = await client.calls.create({ assistantId: "1", phoneNumberId: "1", customer });
    return "id" in call ? call.id : "";
  };
};
