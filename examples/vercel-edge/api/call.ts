// A Vercel edge function that places a call: send POST { "to_number": "+12025550100" } to /api/call with
// the header "Authorization: Bearer <CALL_TOKEN>".
//
//   npm install …/outdial-0.1.0.tgz                 # see "Get started" in the README
//   npx vercel env add OUTDIAL_API_KEY --sensitive     # also OUTDIAL_BASE_URL, FROM_NUMBER, APP_URL
//   npx vercel deploy                                  # and CALL_TOKEN (openssl rand -hex 32)
//
// It responds with 201 and the call's id, 400 if the number is invalid, 503 if nobody was called, and 202
// if a call may have been placed.
import { Client, isException } from "outdial/fetch";

export const config = { runtime: "edge" };

const client = new Client(process.env.OUTDIAL_API_KEY ?? "", {
  baseUrl: process.env.OUTDIAL_BASE_URL ?? "",
});

/** Digests are compared, so that the time depends on no secret. */
const digest = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** The function is public, and every call costs you money. */
const isAllowed = async (request: Request): Promise<boolean> => {
  const token = process.env.CALL_TOKEN;
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

export default async function handler(request: Request): Promise<Response> {
  if (request.method !== "POST") {
    return new Response(null, { status: 405, headers: { Allow: "POST" } });
  }
  if (!(await isAllowed(request))) return new Response(null, { status: 401 });
  // `create` refuses anything that is not a number.
  const { to_number } = Object(await request.json().catch(() => ({})));
  try {
    const call = await client.calls.create({
      from_number: process.env.FROM_NUMBER ?? "",
      to_number,
      flow_url: `${process.env.APP_URL}/flow`,
      status_callback_url: `${process.env.APP_URL}/status`,
    });
    return Response.json({ call_id: call.id }, { status: 201 });
  } catch (error) {
    return refusal(error);
  }
}
