// A Cloudflare Worker that places a call: POST { "to_number": "+12025550100" } to it.
//
//   npm install outdial
//   npx wrangler secret put OUTDIAL_API_KEY     # locally: a line in .dev.vars, kept out of git
//   npx wrangler deploy                         # locally: npx wrangler dev
//
// It answers 201 with the call's id, 503 when nothing was dialled, and 202 when that can't be known.
import { calls, isException } from "outdial";

interface Env {
  readonly OUTDIAL_API_KEY: string;
  readonly OUTDIAL_BASE_URL: string;
  readonly FROM_NUMBER: string;
  readonly APP_URL: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { to_number } = await request.json();
    try {
      const call = await calls.create(
        {
          from_number: env.FROM_NUMBER,
          to_number,
          flow_url: `${env.APP_URL}/flow`,
          status_callback_url: `${env.APP_URL}/status`,
        },
        { apiKey: env.OUTDIAL_API_KEY, baseUrl: env.OUTDIAL_BASE_URL },
      );
      return Response.json({ call_id: call.id }, { status: 201 });
    } catch (error) {
      if (!isException(error)) throw error;
      const { name, message, placed } = error;
      console.error(message); // Without the key and the numbers, as always.
      // A 503 invites the caller to try again. That is right only when no telephone has rung.
      return Response.json({ error: name, placed }, { status: placed === "no" ? 503 : 202 });
    }
  },
};
