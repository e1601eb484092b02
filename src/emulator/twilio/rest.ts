import { Hono } from "hono/tiny";
import type { Account } from "../account.ts";
import { isSame } from "../account.ts";
import {
  type ApiParts,
  type ApiRoutes,
  type RequestExtras,
  receiveBody,
  recordingOf,
  respondAs,
} from "../api.ts";
import { isAllowed } from "../outgoing.ts";
import { scenarioOf } from "../scenarios.ts";
import { recordingSidOf, resourceOf, statusOf, type TwilioCall } from "./call.ts";
import { type CallFields, type IsAllowed, nextIn, parseCall, TwilioError } from "./fields.ts";

const jsonHeaders = { "Content-Type": "application/json;charset=utf-8" };

const respond = (status: number, body: object, headers?: Readonly<Record<string, string>>) =>
  new Response(JSON.stringify(body), { status, headers: { ...jsonHeaders, ...headers } });

/** What the routes need beside what every API needs. */
export interface RestParts extends ApiParts {
  readonly account: Account;
  readonly accountSid: string;
  readonly find: (callSid: string) => TwilioCall | undefined;
  /** Starts a call. */
  readonly start: (fields: CallFields, url: string) => TwilioCall;
}

/** A request that is signed in. */
interface Asked {
  readonly request: Request;
  readonly extras: RequestExtras;
  readonly url: URL;
  /** The form of a POST. */
  readonly form: URLSearchParams;
  readonly isUrl: IsAllowed;
}

const notFound = (path: string): TwilioError =>
  new TwilioError(404, 20404, `The requested resource ${path} was not found`);

/** The user and the password of a Basic header. */
const credentialsIn = (header: string | null): readonly [user: string, password: string] => {
  try {
    const text = atob(/^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? "")?.[1] ?? "");
    const colon = text.indexOf(":");
    return [text.slice(0, colon), text.slice(colon + 1)];
  } catch {
    return ["", ""];
  }
};

/** Whether a request has the account's SID and token, or the SID of an API key with the token as its secret. */
const isSignedIn = (request: Request, { account, accountSid }: RestParts): boolean => {
  const [user, password] = credentialsIn(request.headers.get("Authorization"));
  return (isSame(user, accountSid) || /^SK[\da-f]{32}$/i.test(user)) && account.accepts(password);
};

/** A URL without user and password, which Twilio sends as a header. */
const withoutCredentials = (given: string): string => {
  if (!URL.canParse(given)) return "";
  const url = new URL(given);
  url.username = url.password = "";
  return url.href;
};

const createCall = async ({ form, isUrl, url, extras }: Asked, parts: RestParts) => {
  const fields = parseCall(form, isUrl);
  if (!parts.account.owns(fields.from)) {
    const text = "is not yet verified for your account. You may only make calls from a verified";
    const message = `The source phone number provided, ${fields.from}, ${text} phone number.`;
    throw new TwilioError(400, 21210, message);
  }
  parts.onPost(fields.to);
  const { outage, response } = scenarioOf(fields.to);
  if (outage) throw new TwilioError(outage.status, 20_000 + outage.status, outage.detail);
  if (parts.isClosed()) throw new TwilioError(503, 20503, "The emulator is closed.");
  const started = parts.start(fields, url.href);
  // As it was queued: by now the call may be further.
  const resource = { ...resourceOf(started, parts.accountSid), status: "queued" };
  const text = JSON.stringify(resource);
  return respondAs(response, { status: 201, headers: jsonHeaders, text }, extras.signal);
};

/** What a page of the list has in its links. */
const pageSizeIn = (query: URLSearchParams): number => {
  const size = Number(query.get("PageSize") ?? 50);
  return Number.isInteger(size) && size > 0 ? Math.min(size, 1_000) : 50;
};

const listCalls = async ({ url }: Asked, { accountSid, allCalls, find }: RestParts) => {
  const query = url.searchParams;
  const wanted = (name: string, value: string) => (query.get(name) ?? value) === value;
  const found = allCalls()
    .filter(
      ({ params, facts }) =>
        wanted("To", params.to_number) &&
        wanted("From", params.from_number) &&
        wanted("Status", statusOf(facts)),
    )
    .reverse();
  const size = pageSizeIn(query);
  const page = Math.max(0, Math.trunc(Number(query.get("Page") ?? 0)) || 0);
  const start = page * size;
  const shown = found.slice(start, start + size);
  const uriOf = (at: number) => {
    const others = new URLSearchParams(query);
    others.set("PageSize", String(size));
    others.set("Page", String(at));
    return `${url.pathname}?${others}`;
  };
  return respond(200, {
    calls: shown.flatMap(({ id }) => {
      const call = find(id);
      return call ? [resourceOf(call, accountSid)] : [];
    }),
    end: start + Math.max(shown.length - 1, 0),
    first_page_uri: uriOf(0),
    next_page_uri: start + size < found.length ? uriOf(page + 1) : null,
    page,
    page_size: size,
    previous_page_uri: page > 0 ? uriOf(page - 1) : null,
    start,
    uri: uriOf(page),
  });
};

const updateCall = async ({ form, isUrl }: Asked, found: TwilioCall, { accountSid }: RestParts) => {
  const { call } = found;
  const status = form.get("Status");
  if (status && status !== "completed" && status !== "canceled") {
    throw new TwilioError(400, 21218, "Status must be completed or canceled");
  }
  const next = nextIn(form, isUrl);
  if (next && !found.redirect) {
    throw new TwilioError(400, 21220, "Call is not in-progress. Cannot redirect.");
  }
  if (next) found.redirect?.(next);
  // An answered call can't be canceled, and a completed one stays as it is.
  if (status === "completed" && !call.transition("normal")) call.transition("canceled");
  if (status === "canceled") call.transition("canceled");
  return respond(200, resourceOf(found, accountSid));
};

type Route = (asked: Asked, parts: RestParts) => Promise<Response>;

const allowOnly = (method: string): TwilioError =>
  new TwilioError(405, 20004, `Method ${method} not allowed`);

const calls: Route = async (asked, parts) => {
  const { method } = asked.request;
  if (method === "POST") return createCall(asked, parts);
  if (method === "GET") return listCalls(asked, parts);
  throw allowOnly(method);
};

const oneCall =
  (sid: string): Route =>
  async (asked, parts) => {
    const { method } = asked.request;
    const found = parts.find(sid);
    if (!found) throw notFound(asked.url.pathname);
    if (method === "POST") return updateCall(asked, found, parts);
    if (method === "GET") return respond(200, resourceOf(found, parts.accountSid));
    throw allowOnly(method);
  };

const theAccount: Route = async ({ request, url }, { accountSid }) => {
  if (request.method !== "GET") throw allowOnly(request.method);
  const friendly_name = "outdial emulator";
  return respond(200, {
    sid: accountSid,
    friendly_name,
    status: "active",
    type: "Full",
    owner_account_sid: accountSid,
    uri: url.pathname,
  });
};

const refusalHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": 'Basic realm="Twilio API"' },
  429: { "Retry-After": "1" },
  503: { "Retry-After": "1" },
};

/** Requests a path, signed in: every failure is an answer in Twilio's form. */
const answer = async (
  request: Request,
  extras: RequestExtras,
  accountSid: string,
  route: Route,
  parts: RestParts,
): Promise<Response> => {
  const url = new URL(request.url);
  try {
    if (!isSignedIn(request, parts)) throw new TwilioError(401, 20003, "Authenticate");
    if (accountSid !== parts.accountSid) throw notFound(url.pathname);
    const received = await receiveBody(request, extras, parts.responseTimeout);
    // The token may have been regenerated meanwhile.
    if (!isSignedIn(request, parts)) throw new TwilioError(401, 20003, "Authenticate");
    if (!received?.isWhole) throw new TwilioError(400, 20001, "The body is too long, or too late.");
    const form = new URLSearchParams(new TextDecoder().decode(received.bytes));
    const local = parts.isLocal(request.url);
    const isUrl = (given: string) => isAllowed(withoutCredentials(given), local);
    return await route({ request, extras, url, form, isUrl }, parts);
  } catch (error) {
    if (!(error instanceof TwilioError)) throw error;
    const { status, body, message } = error;
    parts.onRefused({ method: request.method, path: url.pathname, status, detail: message });
    return respond(status, body, refusalHeaders[status]);
  }
};

/** The routes of Twilio's API that calls need. */
export const twilioRoutes = (parts: RestParts): ApiRoutes => {
  const app: ApiRoutes = new Hono();
  const account = "/2010-04-01/Accounts/:account";
  app.all(`/2010-04-01/Accounts/:file{AC[\\da-fA-F]{32}\\.json}`, ({ req, env }) =>
    answer(req.raw, env, req.param("file").slice(0, -5), theAccount, parts),
  );
  app.all(`${account}/Calls.json`, ({ req, env }) =>
    answer(req.raw, env, req.param("account"), calls, parts),
  );
  app.all(`${account}/Calls/:file{CA[\\da-fA-F]{32}\\.json}`, ({ req, env }) =>
    answer(req.raw, env, req.param("account"), oneCall(req.param("file").slice(0, -5)), parts),
  );
  // As with Twilio, whoever has a recording's URL may fetch it.
  app.get(
    `${account}/Recordings/:file{RE[\\da-fA-F]{32}(\\.wav)?}`,
    ({ req, notFound: missing }) => {
      const sid = req.param("file").replace(".wav", "");
      const call = parts.allCalls().find(({ id }) => recordingSidOf(id) === sid);
      return recordingOf(call, req.raw) ?? missing();
    },
  );
  app.notFound(({ req }) => {
    const { status, body, message } = notFound(req.path);
    parts.onRefused({ method: req.method, path: req.path, status, detail: message });
    return respond(status, body);
  });
  return app;
};
