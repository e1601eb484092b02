import { Hono } from "hono/tiny";
import type { CallParams } from "../../calls/params.ts";
import { withDeadline } from "../../request/deadline.ts";
import type { Call } from "../line/call.ts";
import { destinationOf } from "../line/destinations.ts";
import type { Account } from "./account.ts";
import { preflight, refuse } from "./answer.ts";
import { type Beginning, parseJson, readBeginning } from "./body.ts";
import { keyMissing, readFields } from "./fields.ts";
import { recordingOf } from "./recordings.ts";
import { replies } from "./reply.ts";
import type { SignedRecordings } from "./signed.ts";

/** The largest body, in bytes. */
const largest = 64 * 1024;

/** What goes beside a request. */
interface Beside {
  readonly signal?: AbortSignal | undefined;
  /** The body, when it is a text. */
  readonly text?: string | undefined;
}

/** The environment of the routes, in Hono's words. */
export interface Env {
  readonly Bindings: Beside;
}

/** What is told of a refused request: neither key nor query, which might hold one. */
interface Refusal {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** What the routes need of the rest of the emulator. */
export interface ApiParts {
  readonly account: Account;
  readonly recordings: SignedRecordings;
  /** Whether plain http on loopback is allowed to a request that came in there. */
  readonly isLocal: (url: string) => boolean;
  /** Milliseconds on the wall for a request's body. */
  readonly respondWithin: number;
  /** Whether no more calls are taken. */
  readonly isClosed: () => boolean;
  readonly findCall: (id: string) => Call | undefined;
  /** Hears of each request whose fields and key are right. */
  readonly onPost: (to_number: string) => void;
  readonly onRefused: (refusal: Refusal) => void;
  /** Takes a call whose every check is passed, and gives its id. */
  readonly accept: (params: CallParams, url: string) => string;
}

const mediaType = /^application\/json *(;|$)/i;

const encoder = /* @__PURE__ */ new TextEncoder();

const encoded = (text: string): Beginning => {
  const bytes = encoder.encode(text);
  return { bytes, whole: bytes.length <= largest };
};

/** The body, unless it stalls. */
const receive = async (
  body: Request["body"],
  patience: number,
  signal: AbortSignal | undefined,
): Promise<Beginning | undefined> => {
  const late = new Error("The body stalls");
  try {
    return await withDeadline(
      patience,
      signal,
      () => late,
      (over) => readBeginning(body, largest, over),
    );
  } catch (error) {
    if (error === late) return;
    throw error;
  }
};

const initiate = async (
  request: Request,
  { signal, text }: Beside,
  { account, respondWithin, isLocal, isClosed, onPost, accept }: ApiParts,
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
  const received =
    text === undefined ? await receive(request.body, respondWithin, signal) : encoded(text);
  if (!received) return refuse(400, "The body did not come in time.");
  // The key may have been regenerated while the body came.
  if (!account.accepts(key)) return refuse(403, "Invalid API Key.");
  const { bytes, whole } = received;
  if (!whole) return refuse(413, "The body must be at most 64 KiB.");
  const body = parseJson(bytes);
  if (body === undefined) return refuse(400, "The body must be JSON in UTF-8.");
  const params = readFields(body, isLocal(url));
  if (!("to_number" in params)) return refuse(422, params);
  if (!account.owns(params.from_number)) {
    return refuse(403, "from_number does not belong to this account.");
  }
  onPost(params.to_number);
  const { outage, reply } = destinationOf(params.to_number);
  if (outage) return refuse(outage.status, outage.detail, { "Retry-After": "1" });
  if (isClosed()) return refuse(503, "The emulator is closed.");
  const id = accept(params, url);
  const { from_number, to_number, status_callback_url, record = true } = params;
  const data = { id, from_number, to_number, status_callback_url, record };
  return replies[reply]({ message: "Call accepted.", data }, signal);
};

/** Why somebody may not have a recording, if so: it takes the key, or the address as it was told. */
const refuseRecording = (
  { method, headers, url }: Request,
  id: string,
  { account, recordings }: ApiParts,
): Response | undefined => {
  if (method !== "GET" && method !== "HEAD") {
    return refuse(405, "Method Not Allowed", { Allow: "GET, HEAD" });
  }
  const query = new URL(url).searchParams;
  if (recordings.accepts(id, query)) return;
  const key = headers.get("X-API-Key");
  if (key === null) {
    return query.has("signature")
      ? refuse(403, "The address is none that was told, or is too old.")
      : refuse(422, [keyMissing]);
  }
  return account.accepts(key) ? undefined : refuse(403, "Invalid API Key.");
};

/** The routes of the interface; what else an emulator serves is mounted beside them. */
export const apiRoutes = (parts: ApiParts): Hono<Env> => {
  const app = new Hono<Env>();
  for (const path of ["/api/v1/calls/initiate", "/api/v1/voice/calls/initiate"]) {
    app.all(path, async ({ req, env, notFound }) => {
      // The router overlooks a slash at the end; the service has no such address.
      if (req.path !== path) return notFound();
      const response = await initiate(req.raw, env, parts);
      const { status } = response;
      if (status >= 400) parts.onRefused({ method: req.method, path, status });
      return response;
    });
  }
  app.all("/recordings/:file{.+\\.wav}", ({ req, notFound }) => {
    const id = req.param("file").slice(0, -4);
    const refusal = refuseRecording(req.raw, id, parts);
    if (refusal) return refusal;
    const call = parts.findCall(id);
    if (!call?.facts.recording_url) return notFound();
    return recordingOf(call, req.header("Range") ?? null, req.query("channels") === "2" ? 2 : 1);
  });
  app.notFound(() => refuse(404, "Not Found"));
  app.onError((error) => {
    throw error;
  });
  return app;
};
