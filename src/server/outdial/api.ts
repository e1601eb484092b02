import { Hono } from "hono/tiny";
import asyncapi from "../../../docs/asyncapi.json" with { type: "json" };
import openapi from "../../../docs/openapi.json" with { type: "json" };
import { type Body, parseJson } from "../../lib/body.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import type { Account, RecordingUrls } from "../account.ts";
import {
  type ApiParts,
  type ApiRoutes,
  type RequestExtras,
  receiveBody,
  recordingOf,
} from "../api.ts";
import { flowErrorOf, hangUp, type ServedCall } from "../call.ts";
import { iso } from "../history.ts";
import type { FlowRecordings } from "./recordings.ts";
import { type FieldError, missing, parseFields } from "./request.ts";

/** Lets a page on another origin call the service and read `Retry-After`. */
const cors = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "Retry-After",
};

/** The interface as files that programs read, by their paths: OpenAPI and AsyncAPI. */
const documents: Readonly<Record<string, object>> = {
  "/openapi.json": openapi,
  "/asyncapi.json": asyncapi,
};

type Headers = Readonly<Record<string, string>>;

const jsonHeaders = { "Content-Type": "application/json", ...cors };

const respond = (status: number, body: unknown, headers?: Headers): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...jsonHeaders, ...headers } });

/** Refuses a request. The reason is in two fields, as clients differ in which one they read. */
const refusal = (
  status: number,
  detail: string | readonly FieldError[],
  headers?: Headers,
): Response => {
  const message =
    typeof detail === "string"
      ? detail
      : detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  return respond(status, { detail, message }, headers);
};

/** @param methods - that a page on another origin may use */
const preflight = (methods: string): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...cors,
      "Access-Control-Allow-Methods": methods,
      "Access-Control-Allow-Headers": "X-API-Key, Content-Type, Idempotency-Key",
      "Access-Control-Max-Age": "600",
    },
  });

const missingKey = missing(["header", "x-api-key"]);

const wrongIdempotencyKey: FieldError = {
  loc: ["header", "idempotency-key"],
  msg: 'must be 1 to 64 letters, digits, "_" and "-"',
  type: "value_error",
};

/** Refuses with the service's own constant, for programs to compare. */
const coded = (status: number, code: string, message: string): Response =>
  respond(status, { detail: message, message, code });

const isJson = /^application\/json *(;|$)/i;

/** Whose API it is. */
interface OutdialAccount {
  readonly account: Account;
  readonly recordingUrls: RecordingUrls;
  readonly recordings: FlowRecordings;
  /** Whether a call's flow may be in its request. */
  readonly takesFlow: boolean;
}

const initiate = async (
  request: Request,
  extras: RequestExtras,
  { account, recordings, takesFlow }: OutdialAccount,
  { responseTimeout, reachOf, receive, keys, accept }: ApiParts,
): Promise<Response> => {
  const { method, headers, url } = request;
  if (method === "OPTIONS" && headers.has("Access-Control-Request-Method"))
    return preflight("POST");
  if (method !== "POST") return refusal(405, "Method Not Allowed", { Allow: "POST" });
  const key = headers.get("X-API-Key");
  if (key === null) return refusal(422, [missingKey]);
  if (!account.accepts(key)) return refusal(403, "Invalid API Key.");
  if (!isJson.test(headers.get("Content-Type") ?? "")) {
    return refusal(415, "Content-Type must be application/json.");
  }
  const received = await receiveBody(request, extras, responseTimeout);
  if (!received) return refusal(400, "The body did not come in time.");
  // The key may have been regenerated meanwhile.
  if (!account.accepts(key)) return refusal(403, "Invalid API Key.");
  const { bytes, isWhole } = received;
  if (!isWhole) return refusal(413, "The body must be at most 64 KiB.");
  const body = parseJson(bytes);
  if (body === undefined) return refusal(400, "The body must be JSON in UTF-8.");
  const params = parseFields(body, reachOf(url), takesFlow);
  if (!("to_number" in params)) return refusal(422, params);
  const idempotencyKey = headers.get("Idempotency-Key");
  if (idempotencyKey !== null && !/^[\w-]{1,64}$/.test(idempotencyKey)) {
    return refusal(422, [wrongIdempotencyKey]);
  }
  if (!account.owns(params.from_number)) {
    return refusal(403, "from_number does not belong to this account.");
  }
  const { from_number, to_number, status_callback_url, record = true } = params;
  const sent = idempotencyKey === null ? "" : new TextDecoder().decode(bytes);
  const kept = idempotencyKey === null ? undefined : keys.find(idempotencyKey, sent);
  const isPlaced = kept?.id !== undefined;
  const lost = kept?.lost ?? 0;
  const { outage, isLost, isSent, send } = receive({ from_number, to_number, isPlaced, lost });
  if (!isPlaced) {
    if (outage) return refusal(outage.status, outage.detail, { "Retry-After": "1" });
  } else if (!kept.isSame) {
    return coded(409, "idempotency_conflict", "The Idempotency-Key has placed another call.");
  }
  const keep = (placed: string | undefined) => {
    if (idempotencyKey === null) return;
    keys.keep(idempotencyKey, sent, { id: placed, lost: lost + (isSent ? 0 : 1) });
  };
  const place = () =>
    accept({
      params,
      url,
      prepare: (call) => {
        recordings.add(call, url);
        keep(call.id);
        return call.id;
      },
    });
  if (isPlaced || isLost) keep(kept?.id);
  const id = kept?.id ?? (isLost ? undefined : place());
  const data = { id, from_number, to_number, status_callback_url, record };
  const text = JSON.stringify({ message: "Call accepted.", data });
  return send({ status: 202, headers: jsonHeaders, text }, extras.signal);
};

/** Why a request is refused that has no valid key, if it is. */
const keyRefusal = (key: string | null, { account }: OutdialAccount): Response | undefined => {
  if (key === null) return refusal(422, [missingKey]);
  return account.accepts(key) ? undefined : refusal(403, "Invalid API Key.");
};

/** A call as the API returns it. */
const resourceOf = (call: ServedCall): object => {
  const { id, facts } = call;
  const { state, reason, from_number, to_number, initiated_at, answered_at, ended_at } = facts;
  const { recording_url } = facts;
  return {
    id,
    state,
    direction: "outbound",
    from_number,
    to_number,
    created_at: iso(initiated_at),
    ...(answered_at !== undefined && { answered_at: iso(answered_at) }),
    ...(ended_at !== undefined && { ended_at: iso(ended_at) }),
    ...(reason && { reason }),
    ...flowErrorOf(call),
    legs: [{ recordings: recording_url === undefined ? [] : [{ url: recording_url }] }],
  };
};

const unknownCall = (): Response => coded(404, "call_not_found", "There is no such call.");

const end = (call: ServedCall): Response =>
  hangUp(call)
    ? respond(202, { request_id: `req_${crypto.randomUUID()}` })
    : coded(409, "call_not_live", "The call has ended.");

/** Presses keys for the callee to hear. */
const pressKeys: CallRoute[1] = async (call, receive) => {
  const body = await receive();
  const { digits } = fieldsOf(body?.isWhole && parseJson(body.bytes));
  if (!isText(digits) || !/^[\d*#]{1,32}$/.test(digits)) {
    return refusal(422, "digits: must be 1 to 32 of 0-9, * and #");
  }
  if (call.state !== "answered") return coded(409, "call_not_live", "The call is not answered.");
  call.sendKeys(digits);
  return respond(202, { request_id: `req_${crypto.randomUUID()}` });
};

/** What a request to a call does, by its method. */
type CallRoute = readonly [
  method: "GET" | "POST",
  respond: (
    call: ServedCall,
    receive: () => Promise<Body | undefined>,
  ) => Response | Promise<Response>,
];

/** What follows a call's path. */
const callRoutes: Readonly<Record<string, CallRoute>> = {
  "": ["GET", (call) => respond(200, resourceOf(call))],
  "/hangup": ["POST", end],
  "/dtmf": ["POST", pressKeys],
};

/** Why a recording is refused, if it is: its URL must be a signed one, or the request have the key. */
const recordingRefusal = (
  { method, headers, url }: Request,
  id: string,
  own: OutdialAccount,
): Response | undefined => {
  if (method !== "GET" && method !== "HEAD") {
    return refusal(405, "Method Not Allowed", { Allow: "GET, HEAD" });
  }
  const query = new URL(url).searchParams;
  if (own.recordingUrls.accepts(id, query)) return;
  const key = headers.get("X-API-Key");
  if (key === null && query.has("signature")) {
    return refusal(403, "The signature of this URL is wrong, or the URL has expired.");
  }
  return keyRefusal(key, own);
};

/** The routes of outdial's own API. */
export const outdialRoutes = (own: OutdialAccount, parts: ApiParts): ApiRoutes => {
  const app: ApiRoutes = new Hono();
  /** Reports a refused request. */
  const reported = async (response: Response, method: string, path: string): Promise<Response> => {
    const { status } = response;
    if (status >= 400) {
      const { message: detail } = await response.clone().json();
      parts.onRefused({ method, path, status, detail });
    }
    return response;
  };
  for (const root of ["/api/v1/calls", "/api/v1/voice/calls"]) {
    const path = `${root}/initiate`;
    app.all(path, async ({ req, env, notFound }) => {
      // The router ignores a trailing slash; the service does not.
      if (req.path !== path) return notFound();
      return reported(await initiate(req.raw, env, own, parts), req.method, path);
    });
    for (const [rest, [method, answer]] of Object.entries(callRoutes)) {
      app.all(`${root}/:id${rest}`, async ({ req, env }) => {
        const receive = () => receiveBody(req.raw, env, parts.responseTimeout);
        const call = parts.findCall(req.param("id"));
        if (req.method === "OPTIONS") return preflight(method);
        const refused =
          req.method === method
            ? keyRefusal(req.raw.headers.get("X-API-Key"), own)
            : refusal(405, "Method Not Allowed", { Allow: method });
        const response = refused ?? (await (call ? answer(call, receive) : unknownCall()));
        return reported(response, req.method, req.path);
      });
    }
  }
  app.all("/recordings/:file{.+\\.wav}", ({ req, notFound }) => {
    const id = req.param("file").slice(0, -4);
    const refused = recordingRefusal(req.raw, id, own);
    if (refused) return refused;
    const [, callId = "", number] = /^(.+)-(\d{1,3})$/.exec(id) ?? [];
    if (number !== undefined) {
      const of = parts.findCall(callId);
      return own.recordings.fileOf(of, Number(number), req.raw) ?? notFound();
    }
    const call = parts.findCall(id);
    return call?.facts.recording_url ? recordingOf(call, req.raw) : notFound();
  });
  for (const [path, document] of Object.entries(documents)) {
    app.all(path, ({ req, notFound }) => {
      if (req.path !== path) return notFound();
      const { method } = req;
      if (method === "GET" || method === "HEAD") return respond(200, document);
      return refusal(405, "Method Not Allowed", { Allow: "GET, HEAD" });
    });
  }
  app.notFound(() => refusal(404, "Not Found"));
  return app;
};
