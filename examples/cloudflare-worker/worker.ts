// A Cloudflare Worker that places a call: POST { "to_number": "+12025550100" } to it, with the header
// "Authorization: Bearer <CALL_TOKEN>".
//
//   npm install outdial
//   npx wrangler secret put OUTDIAL_API_KEY     # locally: a line in .dev.vars, kept out of git
//   npx wrangler secret put CALL_TOKEN          # at random
//   npx wrangler deploy                         # locally: npx wrangler dev
//
// It answers 201 with the call's id, 400 when the number is none, 503 when nothing was dialled, and
// 202 when that can't be known.
import { calls, isException } from "outdial";

interface Env {
  readonly OUTDIAL_API_KEY: string;
  readonly OUTDIAL_BASE_URL: string;
  readonly FROM_NUMBER: string;
  readonly APP_URL: string;
  readonly CALL_TOKEN: string;
}

/** A digest tells by its time nothing of what was compared. */
const digest = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** The address is public, and whoever gets past this makes telephones ring at your cost. */
const isAllowed = async (request: Request, token: string | undefined): Promise<boolean> => {
  const given = request.headers.get("authorization") ?? "";
  return !!token && (await digest(given)) === (await digest(`Bearer ${token}`));
};

/** A 503 invites the caller to try again. That is right only when no telephone has rung. */
const refusal = (error: unknown): Response => {
  if (!isException(error)) return Response.json({ placed: "maybe" }, { status: 202 });
  const { name, message, placed } = error;
  console.error(message); // Without the key and the numbers, as always.
  const isTheirs = name === "BadParametersException" && error.param === "to_number";
  const status = placed === "maybe" ? 202 : isTheirs ? 400 : 503;
  return Response.json({ error: name, placed }, { status });
};

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "POST") {
      return new Response(null, { status: 405, headers: { Allow: "POST" } });
    }
    if (!(await isAllowed(request, env.CALL_TOKEN))) return new Response(null, { status: 401 });
    // Whatever else came, or nothing: no number, which `create` refuses.
    const { to_number } = Object(await request.json().catch(() => ({})));
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
      return refusal(error);
    }
  },
};
