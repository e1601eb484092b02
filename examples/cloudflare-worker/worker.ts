// A Cloudflare Worker that places a call: send it POST { "to_number": "+12025550100" } with the header
// "Authorization: Bearer <CALL_TOKEN>".
//
//   npm install …/outdial-0.1.0.tgz          # see "Get started" in the README
//   npx wrangler secret put OUTDIAL_API_KEY     # locally: a line in .dev.vars, which git ignores
//   npx wrangler secret put CALL_TOKEN          # openssl rand -hex 32
//   npx wrangler deploy                         # locally: npx wrangler dev
//
// It responds with 201 and the call's id, 400 if the number is invalid, 503 if nobody was called, and 202
// if a call may have been placed.
import { calls, isException } from "outdial/fetch";

interface Env {
  readonly OUTDIAL_API_KEY: string;
  readonly OUTDIAL_BASE_URL: string;
  readonly FROM_NUMBER: string;
  readonly APP_URL: string;
  readonly CALL_TOKEN: string;
}

/** Digests are compared, so that the time depends on no secret. */
const digest = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** The function is public, and every call costs you money. */
const isAllowed = async (request: Request, token: string | undefined): Promise<boolean> => {
  const given = request.headers.get("authorization") ?? "";
  return !!token && (await digest(given)) === (await digest(`Bearer ${token}`));
};

/** 503 invites the client to try again, which is safe only if no telephone has rung. */
const refusal = (error: unknown): Response => {
  if (!isException(error)) return Response.json({ placed: "maybe" }, { status: 202 });
  const { name, message, placed } = error;
  console.error(message); // It never contains the key or the numbers.
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
    // `create` refuses anything that is not a number.
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
