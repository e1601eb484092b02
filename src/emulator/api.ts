import { Hono } from "hono/tiny";
import type { CallParams } from "../calls/params.ts";
import type { Account } from "./account.ts";
import { preflight, refuse } from "./answer.ts";
import { parseJson, readBytes } from "./body.ts";
import { apiBehaviourOf } from "./destinations.ts";
import { keyMissing, readFields } from "./fields.ts";
import { replies } from "./reply.ts";

/** The largest body, in bytes. */
const largest = 64 * 1024;

/** What goes beside a request: the caller's signal, kept out of it because a `Request` copies it. */
export interface Env {
  readonly Bindings: { readonly signal: AbortSignal | undefined };
}

/** What the routes need of the rest of the emulator. */
export interface ApiParts {
  readonly account: Account;
  /** Takes a call whose every check is passed, and gives its id. */
  readonly accept: (params: CallParams, url: string) => string;
}

const mediaType = /^application\/json *(;|$)/i;

const initiate = async (
  request: Request,
  signal: AbortSignal | undefined,
  { account, accept }: ApiParts,
): Promise<Response> => {
  const { method, headers, url } = request;
  if (method === "OPTIONS" && headers.has("Access-Control-Request-Method")) return preflight();
  if (method !== "POST") return refuse(405, "Method Not Allowed", { Allow: "POST" });
  const key = headers.get("X-API-Key");
  if (key === null) return refuse(422, [keyMissing]);
  if (!account.accepts(key)) return refuse(403, "Invalid API Key.");
  if (!mediaType.test(headers.get("Content-Type") ?? "")) {
    return refuse(415, "Content-Type must be application/json.");
  }
  const bytes = await readBytes(request.body, largest);
  if (!bytes) return refuse(413, "The body must be at most 64 KiB.");
  const body = parseJson(bytes);
  if (body === undefined) return refuse(400, "The body must be JSON in UTF-8.");
  const params = readFields(body, url);
  if (!("to_number" in params)) return refuse(422, params);
  if (!account.owns(params.from_number)) {
    return refuse(403, "from_number does not belong to this account.");
  }
  const behaviour = apiBehaviourOf(params.to_number);
  if ("outage" in behaviour) {
    const { status, detail } = behaviour.outage;
    return refuse(status, detail, { "Retry-After": "1" });
  }
  const id = accept(params, url);
  const { from_number, to_number, status_callback_url, record = true } = params;
  const data = { id, from_number, to_number, status_callback_url, record };
  return replies[behaviour.reply]({ message: "Call accepted.", data }, signal);
};

/** The routes of the interface; what else an emulator serves is mounted beside them. */
export const apiRoutes = (parts: ApiParts): Hono<Env> => {
  const app = new Hono<Env>();
  for (const path of ["/api/v1/calls/initiate", "/api/v1/voice/calls/initiate"]) {
    app.all(path, ({ req, env, notFound }) =>
      // The router overlooks a slash at the end; the service has no such address.
      req.path === path ? initiate(req.raw, env.signal, parts) : notFound(),
    );
  }
  app.notFound(() => refuse(404, "Not Found"));
  app.onError((error) => {
    throw error;
  });
  return app;
};
