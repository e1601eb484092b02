import { Hono } from "hono/tiny";
import { fieldsOf, isText } from "../../../lib/check.ts";
import type { Account } from "../../../server/account.ts";
import { type ApiParts, type ApiRoutes, recordingOf } from "../../../server/api.ts";
import { hangUp } from "../../../server/call.ts";
import {
  type Asked,
  byMethod,
  type IsAllowed,
  jsonResponder,
  notEmulatedAt,
  placeCall,
  type Route,
  restServer,
} from "../../../server/rest.ts";
import { resourceOf, statusOf, type VonageCall } from "./call.ts";
import { type CallFields, type Next, parseCall } from "./fields.ts";
import { liveRoutes, silence } from "./live.ts";
import { readNcco } from "./ncco.ts";
import { contentType, jsonOf, notAllowed, notFound, refuseField, VonageError } from "./problems.ts";
import type { TokenVerifier } from "./tokens.ts";

const respond = jsonResponder(contentType);

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

type VonageRoute = Route<RestParts>;

const createCall: VonageRoute = async (asked, parts) => {
  const { text, isUrl, url } = asked;
  const fields = parseCall(jsonOf(text), isUrl, parts.randomNumber);
  return placeCall(fields, asked, parts, {
    notOwned: () => {
      const reason = "must be a number of the application";
      return new VonageError(403, "The number is not linked to the application", [
        { name: "from.number", reason },
      ]);
    },
    outage: (status, detail) => new VonageError(status, detail),
    start: () => {
      const { served, conversation } = parts.start(fields, url.href);
      // As it was accepted: by now the call may be further.
      const body = {
        uuid: served.id,
        status: "started",
        direction: "outbound",
        conversation_uuid: conversation,
      };
      const headers = { "Content-Type": contentType };
      return { status: 201, headers, text: JSON.stringify(body) };
    },
  });
};

/** A number of the query, from `least` on. */
const numberIn = (query: URLSearchParams, name: string, least: number, missing: number): number => {
  const value = Number(query.get(name) ?? missing);
  return Number.isInteger(value) && value >= least ? value : missing;
};

/** What the list of calls is filtered and paged by. */
const listed: ReadonlySet<string> = new Set([
  "status",
  "conversation_uuid",
  "date_start",
  "date_end",
  "order",
  "page_size",
  "record_index",
]);

/** A time of the query, in milliseconds since 1970; the default where it is missing. */
const timeIn = (query: URLSearchParams, name: string, missing: number): number => {
  const text = query.get(name);
  const time = text === null ? missing : Date.parse(text);
  return Number.isNaN(time) ? refuseField(name, "must be a time in ISO 8601") : time;
};

const listCalls: VonageRoute = async ({ url }, { allCalls, find }) => {
  const { searchParams: query } = url;
  const other = [...query.keys()].find((name) => !listed.has(name));
  if (other !== undefined) return refuseField(other, "is not emulated");
  const from = timeIn(query, "date_start", Number.NEGATIVE_INFINITY);
  const to = timeIn(query, "date_end", Number.POSITIVE_INFINITY);
  const wanted = (name: string, value: string) => (query.get(name) ?? value) === value;
  const found = allCalls().flatMap(({ id }) => find(id) ?? []);
  const matching = found.filter(
    ({ served, conversation }) =>
      wanted("status", statusOf(served.facts)) &&
      wanted("conversation_uuid", conversation) &&
      served.facts.initiated_at >= from &&
      served.facts.initiated_at <= to,
  );
  const order = query.get("order") ?? "asc";
  if (order !== "asc" && order !== "desc") return refuseField("order", "must be asc or desc");
  if (order === "desc") matching.reverse();
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
  if (type === "ncco" && ncco !== undefined) {
    return { ncco: readNcco(ncco, (at, rule) => refuseField(`destination.ncco${at}`, rule)) };
  }
  const rule = "must have the type ncco, and a list of one URL as url, or an ncco";
  return refuseField("destination", rule);
};

const updateCall = ({ text, isUrl }: Asked, call: VonageCall): Response => {
  const { action, destination } = fieldsOf(jsonOf(text));
  const { served } = call;
  if (action === "hangup") {
    if (served.isOver) throw new VonageError(400, "The call is over");
    call.endedBy = "platform";
    hangUp(served);
    return new Response(null, { status: 204 });
  }
  if (action === "transfer") {
    const next = destinationOf(destination, isUrl);
    if (!call.transfer) throw new VonageError(400, "The call is not answered");
    call.transfer(next);
    return new Response(null, { status: 204 });
  }
  if (silence(call, action)) return new Response(null, { status: 204 });
  const rule = "must be hangup, transfer, mute, unmute, earmuff or unearmuff";
  return refuseField("action", rule);
};

const calls = byMethod({ POST: createCall, GET: listCalls }, notAllowed);

/** @throws {VonageError} when there is no such call */
const callIn = ({ find }: RestParts, uuid: string): VonageCall => {
  const call = find(uuid);
  if (call) return call;
  throw notFound();
};

const oneCall = (uuid: string): VonageRoute =>
  byMethod<RestParts>(
    {
      GET: async (_, parts) => respond(200, resourceOf(callIn(parts, uuid))),
      PUT: async (update, parts) => updateCall(update, callIn(parts, uuid)),
    },
    notAllowed,
  );

/** A recording as a WAV; what was not recorded of the call is silence. */
const file = (id: string): VonageRoute =>
  byMethod<RestParts>(
    {
      GET: async ({ request }, { findRecorded }) => {
        const call = findRecorded(id);
        if (!call?.served.isOver) throw notFound();
        return recordingOf(call.served, request);
      },
    },
    notAllowed,
  );

/** The routes of Vonage's API that calls need. */
export const vonageRoutes = (parts: RestParts): ApiRoutes => {
  const app: ApiRoutes = new Hono();
  const { account, tokens } = parts;
  const answer = restServer(
    {
      contentType,
      signIn: async (request) => {
        const refusal = await tokens.refusal(request.headers.get("Authorization"), account.key);
        if (refusal !== undefined) throw new VonageError(401, refusal);
      },
      incomplete: () => new VonageError(400, "The body is too long, or too late"),
      scheme: "Bearer",
      idHeader: "x-nexmo-trace-id",
    },
    parts,
  );
  app.all("/v1/calls", ({ req, env }) => answer(req.raw, env, calls));
  app.all("/v1/calls/:uuid", ({ req, env }) => answer(req.raw, env, oneCall(req.param("uuid"))));
  const live = (of: string) => liveRoutes<RestParts>((all) => callIn(all, of));
  for (const operation of ["talk", "stream", "dtmf"] as const) {
    app.all(`/v1/calls/:uuid/${operation}`, ({ req, env }) =>
      answer(req.raw, env, live(req.param("uuid"))[operation]),
    );
  }
  app.all("/v1/files/:uuid", ({ req, env }) => answer(req.raw, env, file(req.param("uuid"))));
  const missing: VonageRoute = async ({ url }) => {
    throw new VonageError(404, notEmulatedAt(url.pathname));
  };
  app.notFound(({ req, env }) => answer(req.raw, env, missing));
  return app;
};
