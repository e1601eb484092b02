import { Hono } from "hono/tiny";
import { fieldsOf, isText, quietly } from "../../lib/check.ts";
import type { Account } from "../account.ts";
import {
  type ApiParts,
  type ApiRoutes,
  type RequestExtras,
  receiveBody,
  respondAs,
} from "../api.ts";
import { isAllowed } from "../outgoing.ts";
import { downloadOf } from "../recording/download.ts";
import { scenarioOf } from "../scenarios.ts";
import { resourceOf, statusOf, type VonageCall } from "./call.ts";
import {
  type CallFields,
  type IsAllowed,
  isAction,
  type Next,
  parseCall,
  VonageError,
} from "./fields.ts";
import type { TokenVerifier } from "./tokens.ts";

const jsonHeaders = { "Content-Type": "application/json" };

const respond = (status: number, body: object, headers?: Readonly<Record<string, string>>) =>
  new Response(JSON.stringify(body), { status, headers: { ...jsonHeaders, ...headers } });

/** What the routes need beside what every API needs. */
export interface RestParts extends ApiParts {
  readonly account: Account;
  readonly tokens: TokenVerifier;
  /** The number of `random_from_number`, in E.164. */
  readonly randomNumber: string;
  readonly find: (uuid: string) => VonageCall | undefined;
  /** The call of a recording. */
  readonly findRecorded: (id: string) => VonageCall | undefined;
  /** Starts a call. */
  readonly start: (fields: CallFields, url: string) => VonageCall;
}

/** A request that is signed in. */
interface Asked {
  readonly request: Request;
  readonly extras: RequestExtras;
  readonly url: URL;
  /** The body, as text. */
  readonly text: string;
  readonly isUrl: IsAllowed;
}

type Route = (asked: Asked, parts: RestParts) => Promise<Response>;

const notFound = (): VonageError => new VonageError(404, "The resource was not found");

const allowOnly = (method: string): VonageError =>
  new VonageError(405, `Method ${method} is not allowed`);

/** @throws {VonageError} when it is no JSON */
const jsonOf = (text: string): unknown => {
  const body = quietly((): unknown => JSON.parse(text));
  if (body !== undefined) return body;
  throw new VonageError(400, "The body must be JSON");
};

const createCall: Route = async ({ text, isUrl, url, extras }, parts) => {
  const { account, randomNumber, onPost, isClosed, start } = parts;
  const fields = parseCall(jsonOf(text), isUrl, randomNumber);
  if (!account.owns(fields.from)) {
    const reason = "must be a number of the application";
    throw new VonageError(403, "The number is not linked to the application", [
      { name: "from.number", reason },
    ]);
  }
  onPost(fields.to);
  const { outage, response } = scenarioOf(fields.to);
  if (outage) throw new VonageError(outage.status, outage.detail);
  if (isClosed()) throw new VonageError(503, "The emulator is closed");
  const { call, conversation } = start(fields, url.href);
  // As it was accepted: by now the call may be further.
  const body = {
    uuid: call.id,
    status: "started",
    direction: "outbound",
    conversation_uuid: conversation,
  };
  const accepted = { status: 201, headers: jsonHeaders, text: JSON.stringify(body) };
  return respondAs(response, accepted, extras.signal);
};

/** A number of the query, from `least` on. */
const numberIn = (query: URLSearchParams, name: string, least: number, missing: number): number => {
  const value = Number(query.get(name) ?? missing);
  return Number.isInteger(value) && value >= least ? value : missing;
};

const listCalls: Route = async ({ url }, { allCalls, find }) => {
  const { searchParams: query } = url;
  const wanted = (name: string, value: string) => (query.get(name) ?? value) === value;
  const found = allCalls().flatMap(({ id }) => find(id) ?? []);
  const matching = found.filter(
    ({ call, conversation }) =>
      wanted("status", statusOf(call.facts)) && wanted("conversation_uuid", conversation),
  );
  const page_size = Math.min(numberIn(query, "page_size", 1, 10), 100);
  const record_index = numberIn(query, "record_index", 0, 0);
  const shown = matching.slice(record_index, record_index + page_size);
  return respond(200, {
    count: matching.length,
    page_size,
    record_index,
    _links: { self: { href: `${url.pathname}${url.search}` } },
    _embedded: { calls: shown.map(resourceOf) },
  });
};

/** Where a transfer leads. */
const destinationOf = (destination: unknown, isUrl: IsAllowed): Next => {
  const { type, url, ncco } = fieldsOf(destination);
  const [first] = Array.isArray(url) ? url : [];
  if (type === "ncco" && isText(first) && isUrl(first)) return { url: first, method: "GET" };
  if (type === "ncco" && Array.isArray(ncco) && ncco.every(isAction)) return { ncco };
  const reason = "must have the type ncco, and a list of one URL as url, or an ncco";
  throw new VonageError(400, "The request has wrong parameters", [{ name: "destination", reason }]);
};

const updateCall = ({ text, isUrl }: Asked, known: VonageCall): Response => {
  const { action, destination } = fieldsOf(jsonOf(text));
  const { call } = known;
  if (action === "hangup") {
    if (call.isOver) throw new VonageError(400, "The call is over");
    known.endedBy = "platform";
    if (!call.transition("normal")) call.transition("canceled");
    return new Response(null, { status: 204 });
  }
  if (action === "transfer") {
    const next = destinationOf(destination, isUrl);
    if (!known.transfer) throw new VonageError(400, "The call is not answered");
    known.transfer(next);
    return new Response(null, { status: 204 });
  }
  const reason = "must be hangup or transfer: no other is emulated";
  throw new VonageError(400, "The request has wrong parameters", [{ name: "action", reason }]);
};

const calls: Route = async (asked, parts) => {
  const { method } = asked.request;
  if (method === "POST") return createCall(asked, parts);
  if (method === "GET") return listCalls(asked, parts);
  throw allowOnly(method);
};

const oneCall =
  (uuid: string): Route =>
  async (asked, { find }) => {
    const { method } = asked.request;
    const known = find(uuid);
    if (!known) throw notFound();
    if (method === "GET") return respond(200, resourceOf(known));
    if (method === "PUT") return updateCall(asked, known);
    throw allowOnly(method);
  };

/** A recording as a WAV; what was not recorded of the call is silence. */
const file =
  (id: string): Route =>
  async ({ request, url }, { findRecorded }) => {
    const known = findRecorded(id);
    if (!known?.call.isOver || request.method !== "GET") throw notFound();
    const { recording, talkTime } = known.call;
    const channels = url.searchParams.get("channels") === "2" ? 2 : 1;
    return downloadOf(recording, talkTime, request.headers.get("Range"), channels);
  };

const refusalHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "Bearer" },
  429: { "Retry-After": "1" },
  503: { "Retry-After": "1" },
};

const signIn = async (
  request: Request,
  { account, tokens, isLocal }: RestParts,
): Promise<IsAllowed> => {
  const refusal = await tokens.refusal(request.headers.get("Authorization"), account.key);
  if (refusal !== undefined) throw new VonageError(401, refusal);
  const local = isLocal(request.url);
  return (given) => isAllowed(given, local);
};

/** Answers a request that is signed in: every failure is an answer in Vonage's form. */
const answer = async (
  request: Request,
  extras: RequestExtras,
  route: Route,
  parts: RestParts,
): Promise<Response> => {
  const url = new URL(request.url);
  const trace = crypto.randomUUID();
  try {
    await signIn(request, parts);
    const received = await receiveBody(request, extras, parts.responseTimeout);
    // The key may have been regenerated meanwhile.
    const isUrl = await signIn(request, parts);
    if (!received?.isWhole) throw new VonageError(400, "The body is too long, or too late");
    const text = new TextDecoder().decode(received.bytes);
    const response = await route({ request, extras, url, text, isUrl }, parts);
    response.headers.set("x-nexmo-trace-id", trace);
    return response;
  } catch (error) {
    if (!(error instanceof VonageError)) throw error;
    const { status, reason } = error;
    parts.onRefused({ method: request.method, path: url.pathname, status, detail: reason });
    const headers = { ...refusalHeaders[status], "x-nexmo-trace-id": trace };
    return respond(status, error.body(trace), headers);
  }
};

/** The routes of Vonage's API that calls need. */
export const vonageRoutes = (parts: RestParts): ApiRoutes => {
  const app: ApiRoutes = new Hono();
  const uuid = ":uuid{[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}}";
  app.all("/v1/calls", ({ req, env }) => answer(req.raw, env, calls, parts));
  app.all(`/v1/calls/${uuid}`, ({ req, env }) =>
    answer(req.raw, env, oneCall(req.param("uuid")), parts),
  );
  app.all(`/v1/files/${uuid}`, ({ req, env }) =>
    answer(req.raw, env, file(req.param("uuid")), parts),
  );
  const missing: Route = async () => {
    throw notFound();
  };
  app.notFound(({ req, env }) => answer(req.raw, env, missing, parts));
  return app;
};
