// A Vercel edge function that places a call: POST { "to_number": "+12025550100" } to /api/call, with
// the header "Authorization: Bearer <CALL_TOKEN>".
//
//   npm install outdial
//   npx vercel env add OUTDIAL_API_KEY --sensitive     # as well: OUTDIAL_BASE_URL, FROM_NUMBER,
//   npx vercel deploy                                  # APP_URL, and CALL_TOKEN, at random
//
// It answers 201 with the call's id, 400 when the number is none, 503 when nothing was dialled, and
// 202 when that can't be known.
import { Client, isException } from "outdial";

export const config = { runtime: "edge" };

const client = new Client(process.env.OUTDIAL_API_KEY ?? "", {
  baseUrl: process.env.OUTDIAL_BASE_URL ?? "",
});

/** A digest tells by its time nothing of what was compared. */
const digest = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** The address is public, and whoever gets past this makes telephones ring at your cost. */
const isAllowed = async (request: Request): Promise<boolean> => {
  const token = process.env.CALL_TOKEN;
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

export default async function handler(request: Request): Promise<Response> {
  if (request.method !== "POST") {
    return new Response(null, { status: 405, headers: { Allow: "POST" } });
  }
  if (!(await isAllowed(request))) return new Response(null, { status: 401 });
  // Whatever else came, or nothing: no number, which `create` refuses.
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
