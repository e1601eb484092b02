import { Client } from "outdial";
import { createEmulator } from "outdial/emulator";
import { type Connect, params } from "../clients/client.ts";

/** A call from the request to its last notification: two API texts, a flow, four signed notifications. */
export const connect: Connect = () => {
  const app = (request: Request): Response =>
    request.url === params.flow_url
      ? Response.json({ action: "hangup" })
      : new Response(null, { status: 204 });
  const { apiKey, fetch, ended } = createEmulator({ fetch: app, clock: "instant" });
  const client = new Client(apiKey, { baseUrl: "https://emulator.test", fetch });
  return async () => {
    const { id } = await client.calls.create(params);
    const { state, history } = await ended(id);
    if (state !== "completed" || history.length !== 11) throw new Error(`${state}, incomplete`);
    return id;
  };
};
