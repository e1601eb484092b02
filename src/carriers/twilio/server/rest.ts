import { Hono } from "hono/tiny";
import { isSame } from "../../../server/account.ts";
import type { ApiRoutes } from "../../../server/api.ts";
import {
  byMethod,
  jsonResponder,
  placeCall,
  type Route,
  restServer,
} from "../../../server/rest.ts";
import { type MarkupCall, rfc2822, statusOf } from "../../xml/server/call.ts";
import { FormReader, parseCall } from "../../xml/server/fields.ts";
import { pageOfCalls, updateCall } from "../../xml/server/resources.ts";
import { failures, maxUrl } from "./carrier.ts";
import { notificationsOf } from "./notifications.ts";
import {
  contentType,
  notAllowed,
  notEmulated,
  notFound,
  TwilioError,
  twilioForm,
} from "./problems.ts";
import {
  allRecordings,
  mediaOf,
  oneRecording,
  type RecordingParts,
  recordingsOf,
} from "./recordings.ts";

const respond = jsonResponder(contentType);

type TwilioRoute = Route<RecordingParts>;

const refuseFilter = (field: string, rule: string): never => {
  throw new TwilioError(400, 20001, `${field} ${rule}`);
};

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
const isSignedIn = (request: Request, { account, accountSid }: RecordingParts): boolean => {
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

/** A call as the API returns it. */
const resourceOf = ({ served, accountSid, answeredBy }: MarkupCall): object => {
  const { facts } = served;
  const { initiated_at, answered_at, ended_at, from_number, to_number } = facts;
  const uri = `/2010-04-01/Accounts/${accountSid}/Calls/${served.id}`;
  const status = statusOf(facts, failures);
  return {
    sid: served.id,
    date_created: rfc2822(initiated_at),
    date_updated: rfc2822(ended_at ?? answered_at ?? initiated_at),
    parent_call_sid: null,
    account_sid: accountSid,
    to: to_number,
    to_formatted: to_number,
    from: from_number,
    from_formatted: from_number,
    phone_number_sid: null,
    status: status === "initiated" ? "queued" : status,
    start_time: answered_at === undefined ? null : rfc2822(answered_at),
    end_time: ended_at === undefined ? null : rfc2822(ended_at),
    duration: ended_at === undefined ? null : String(facts.duration ?? 0),
    price: null,
    price_unit: "USD",
    direction: "outbound-api",
    answered_by: answeredBy ?? null,
    annotation: null,
    api_version: "2010-04-01",
    forwarded_from: null,
    group_sid: null,
    caller_name: null,
    queue_time: "0",
    trunk_sid: null,
    uri: `${uri}.json`,
    // The others that Twilio has are not emulated.
    subresource_uris: {
      notifications: `${uri}/Notifications.json`,
      recordings: `${uri}/Recordings.json`,
    },
  };
};

const createCall: TwilioRoute = async (asked, parts) => {
  const { text, isUrl, url } = asked;
  const fields = parseCall(new URLSearchParams(text), twilioForm, isUrl);
  return placeCall(fields, asked, parts, {
    notOwned: () => {
      const rule = "is not yet verified for your account. You may only make calls from a verified";
      const message = `The source phone number provided, ${fields.from}, ${rule} phone number.`;
      return new TwilioError(400, 21210, message);
    },
    outage: (status, detail) => new TwilioError(status, 20_000 + status, detail),
    start: () => {
      const call = parts.start(fields, url.href, parts.accountSid, text);
      // As it was queued: by now the call may be further.
      const resource = { ...resourceOf(call), status: "queued" };
      const headers = { "Content-Type": contentType };
      return { status: 201, headers, text: JSON.stringify(resource) };
    },
  });
};

/** How Twilio's list of calls is filtered. */
const listRules = { failures, before: ["<"], after: [">"], refuse: refuseFilter };

const listCalls: TwilioRoute = async ({ url }, parts) =>
  respond(200, pageOfCalls(url, parts, listRules, resourceOf));

const oneCall = (sid: string): TwilioRoute => {
  const findOrThrow = ({ find }: RecordingParts, path: string) => {
    const call = find(sid);
    if (call) return call;
    throw notFound(path);
  };
  return byMethod(
    {
      POST: async ({ text, isUrl, url }, parts) => {
        const call = findOrThrow(parts, url.pathname);
        const reader = new FormReader(new URLSearchParams(text), twilioForm, isUrl);
        const update = { status: reader.text("Status"), next: reader.next() };
        updateCall(call, update, {
          status: () => new TwilioError(400, 21218, "Status must be completed or canceled"),
          notAnswered: () =>
            new TwilioError(400, 21220, "Call is not in-progress. Cannot redirect."),
        });
        return respond(200, resourceOf(call));
      },
      GET: async ({ url }, parts) => respond(200, resourceOf(findOrThrow(parts, url.pathname))),
    },
    notAllowed,
  );
};

const theAccount: TwilioRoute = async ({ url }, { accountSid }) =>
  respond(200, {
    sid: accountSid,
    friendly_name: "outdial emulator",
    status: "active",
    type: "Full",
    owner_account_sid: accountSid,
    uri: url.pathname,
  });

/** The routes of Twilio's API that calls need. */
export const twilioRoutes = (parts: RecordingParts): ApiRoutes => {
  const app: ApiRoutes = new Hono();
  const answer = restServer(
    {
      contentType,
      signIn: (request) => {
        if (!isSignedIn(request, parts)) throw new TwilioError(401, 20003, "Authenticate");
      },
      incomplete: () => new TwilioError(400, 20001, "The body is too long, or too late."),
      scheme: 'Basic realm="Twilio API"',
      bareUrl: withoutCredentials,
      maxUrl,
    },
    parts,
  );
  /** A route of an account, which must be the own one. */
  const own =
    (account: string, route: TwilioRoute): TwilioRoute =>
    async (asked, all) => {
      if (account !== parts.accountSid) throw notFound(asked.url.pathname);
      return route(asked, all);
    };
  const calls = byMethod({ POST: createCall, GET: listCalls }, notAllowed);
  const path = "/2010-04-01/Accounts/:account";
  app.all(`/2010-04-01/Accounts/:file{AC[\\da-fA-F]{32}\\.json}`, ({ req, env }) => {
    const route = byMethod({ GET: theAccount }, notAllowed);
    return answer(req.raw, env, own(req.param("file").slice(0, -5), route));
  });
  app.all(`${path}/Calls.json`, ({ req, env }) =>
    answer(req.raw, env, own(req.param("account"), calls)),
  );
  app.all(`${path}/Calls/:file{[^/]+\\.json}`, ({ req, env }) => {
    const route = oneCall(req.param("file").slice(0, -5));
    return answer(req.raw, env, own(req.param("account"), route));
  });
  app.all(`${path}/Calls/:call/Recordings.json`, ({ req, env }) =>
    answer(req.raw, env, own(req.param("account"), recordingsOf(req.param("call")))),
  );
  app.all(`${path}/Calls/:call/Notifications.json`, ({ req, env }) =>
    answer(req.raw, env, own(req.param("account"), notificationsOf(req.param("call")))),
  );
  const file = ":file{(RE[\\da-fA-F]{32}|Twilio\\.CURRENT)\\.json}";
  app.all(`${path}/Calls/:call/Recordings/${file}`, ({ req, env }) => {
    const name = { sid: req.param("file").slice(0, -5), callSid: req.param("call") };
    return answer(req.raw, env, own(req.param("account"), oneRecording(name)));
  });
  app.all(`${path}/Recordings.json`, ({ req, env }) =>
    answer(req.raw, env, own(req.param("account"), allRecordings)),
  );
  app.all(`${path}/Recordings/:file{RE[\\da-fA-F]{32}\\.json}`, ({ req, env }) => {
    const route = oneRecording({ sid: req.param("file").slice(0, -5) });
    return answer(req.raw, env, own(req.param("account"), route));
  });
  const refuse = (method: string, at: string, error: TwilioError) => {
    const { status, reason } = error;
    parts.onRefused({ method, path: at, status, detail: reason });
    return respond(status, error.body());
  };
  // As with Twilio, whoever has a recording's URL may fetch it.
  app.get(
    `${path}/Recordings/:file{RE[\\da-fA-F]{32}(\\.wav|\\.mp3)?}`,
    ({ req, notFound: missing }) => {
      try {
        return mediaOf(parts, req.param("file"), req.raw) ?? missing();
      } catch (error) {
        if (error instanceof TwilioError) return refuse(req.method, req.path, error);
        throw error;
      }
    },
  );
  app.notFound(({ req }) => refuse(req.method, req.path, notEmulated(req.path)));
  return app;
};
