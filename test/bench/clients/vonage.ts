import { Auth } from "@vonage/auth";
import { Voice } from "@vonage/voice";
import { type Connect, params } from "./client.ts";

/** It signs a JWT with RSA for each call. */
export const connect: Connect = (baseUrl) => {
  const privateKey = globalThis.process?.env.BENCH_RSA_KEY ?? "";
  const auth = new Auth({ applicationId: "00000000-0000-4000-8000-000000000000", privateKey });
  const voice = new Voice(auth, { apiHost: baseUrl });
  const { from_number, to_number, flow_url } = params;
  return async () => {
    const { uuid } = await voice.createOutboundCall({
      to: [{ type: "phone", number: to_number.slice(1) }],
      from: { type: "phone", number: from_number.slice(1) },
      answerUrl: [flow_url],
    });
    return uuid;
  };
};
