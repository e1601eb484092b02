import { Hono } from "hono/tiny";
import { safeParse } from "valibot";
import asyncapi from "../../../docs/asyncapi.json" with { type: "json" };
import openapi from "../../../docs/openapi.json" with { type: "json" };
import { CallParams } from "../../calls/params.ts";
import { parseJson } from "../../lib/body.ts";
import { isRecord } from "../../lib/check.ts";
import { routeOf } from "../../lib/url.ts";
import type { Account, RecordingUrls } from "../account.ts";
import {
  type ApiParts,
  type ApiRoutes,
  type RequestExtras,
  receiveBody,
  recordingOf,
  respondAs,
} from "../api.ts";
import { scenarioOf } from "../scenarios.ts";

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

/** One error of one field. */
interface FieldError {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

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

const preflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...cors,
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": "X-API-Key, Content-Type",
      "Access-Control-Max-Age": "600",
    },
  });

const missing = (loc: readonly string[]): FieldError => ({
  loc,
  msg: "Field required",
  type: "missing",
});

const missingKey = missing(["header", "x-api-key"]);

const wrong = (name: string, msg: string, type = "value_error"): FieldError => ({
  loc: ["body", name],
  msg,
  type,
});

/**
 * The fields of a call, or all errors in them.
 *
 * @param local - whether plain http on loopback is allowed
 */
const parseFields = (body: unknown, local: boolean): CallParams | readonly FieldError[] => {
  if (!isRecord(body)) return [{ loc: ["body"], msg: "must be an object", type: "value_error" }];
  const known: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(body)) {
    if (Object.hasOwn(CallParams.entries, name)) known[name] = value;
    else errors.push(wrong(name, "is unknown", "extra_forbidden"));
  }
  const { success, output, issues } = safeParse(CallParams, known);
  for (const { path, message } of issues ?? []) {
    const name = String(path?.[0].key);
    errors.push(name in known ? wrong(name, message) : missing(["body", name]));
  }
  for (const name of ["flow_url", "status_callback_url"]) {
    if (routeOf(known[name]) === "loopback" && !local) errors.push(wrong(name, "must be https"));
  }
  return success && errors.length === 0 ? output : errors;
};

const isJson = /^application\/json *(;|$)/i;

/** Whose API it is. */
interface OutdialAccount {
  readonly account: Account;
  readonly recordingUrls: RecordingUrls;
}

const initiate = async (
  request: Request,
  extras: RequestExtras,
  { account }: OutdialAccount,
  { responseTimeout, isLocal, isClosed, onPost, accept }: ApiParts,
): Promise<Response> => {
  const { method, headers, url } = request;
  if (method === "OPTIONS" && headers.has("Access-Control-Request-Method")) return preflight();
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
  const params = parseFields(body, isLocal(url));
  if (!("to_number" in params)) return refusal(422, params);
  if (!account.owns(params.from_number)) {
    return refusal(403, "from_number does not belong to this account.");
  }
  onPost(params.to_number);
  const { outage, response } = scenarioOf(params.to_number);
  if (outage) return refusal(outage.status, outage.detail, { "Retry-After": "1" });
  if (isClosed()) return refusal(503, "The emulator is closed.");
  const id = accept({ params, url, prepare: (call) => call.id });
  const { from_number, to_number, status_callback_url, record = true } = params;
  const data = { id, from_number, to_number, status_callback_url, record };
  const text = JSON.stringify({ message: "Call accepted.", data });
  return respondAs(response, { status: 202, headers: jsonHeaders, text }, extras.signal);
};

/** Why a recording is refused, if it is: its URL must be a signed one, or the request have the key. */
const recordingRefusal = (
  { method, headers, url }: Request,
  id: string,
  { account, recordingUrls }: OutdialAccount,
): Response | undefined => {
  if (method !== "GET" && method !== "HEAD") {
    return refusal(405, "Method Not Allowed", { Allow: "GET, HEAD" });
  }
  const query = new URL(url).searchParams;
  if (recordingUrls.accepts(id, query)) return;
  const key = headers.get("X-API-Key");
  if (key === null) {
    return query.has("signature")
      ? refusal(403, "The signature of this URL is wrong, or the URL has expired.")
      : refusal(422, [missingKey]);
  }
  return account.accepts(key) ? undefined : refusal(403, "Invalid API Key.");
};

/** The routes of outdial's own API. */
export const outdialRoutes = (own: OutdialAccount, parts: ApiParts): ApiRoutes => {
  const app: ApiRoutes = new Hono();
  for (const path of ["/api/v1/calls/initiate", "/api/v1/voice/calls/initiate"]) {
    app.all(path, async ({ req, env, notFound }) => {
      // The router ignores a trailing slash; the service does not.
      if (req.path !== path) return notFound();
      const response = await initiate(req.raw, env, own, parts);
      const { status } = response;
      if (status >= 400) {
        const { message: detail } = await response.clone().json();
        parts.onRefused({ method: req.method, path, status, detail });
      }
      return response;
    });
  }
  app.all("/recordings/:file{.+\\.wav}", ({ req, notFound }) => {
    const id = req.param("file").slice(0, -4);
    const refused = recordingRefusal(req.raw, id, own);
    if (refused) return refused;
    return recordingOf(parts.findCall(id), req.raw) ?? notFound();
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
