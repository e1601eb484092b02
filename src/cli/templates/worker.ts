import { createApp, type Env } from "./app.ts";

/** The application as a Cloudflare Worker. */
export default {
  fetch: (request: Request, env: Env): Promise<Response> => createApp(env)(request),
};
