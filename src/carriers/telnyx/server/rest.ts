import { Hono } from "hono/tiny";
import { fieldsOf, isText, withoutThrowing } from "../../../lib/check.ts";
import type { ApiRoutes } from "../../../server/api.ts";
import { flowErrorOf } from "../../../server/call.ts";
import { messageOf } from "../../../server/outgoing.ts";
import {
  type Asked,
  byMethod,
  jsonResponder,
  notEmulatedAt,
  placeCall,
  type Route,
  restServer,
} from "../../../server/rest.ts";
import {
  type CallRecording,
  fileOf,
  type MarkupCall,
  rfc2822,
  secondsOf,
  statusOf,
} from "../../xml/server/call.ts";
import { FormReader, parseCall } from "../../xml/server/fields.ts";
import { pageOfCalls, updateCall } from "../../xml/server/resources.ts";
import { type MarkupRestParts, recordingNamed } from "../../xml/server/side.ts";
import { failures, maxUrl } from "./carrier.ts";
import { TelnyxError, telnyxForm } from "./problems.ts";
import type { BodySigner } from "./signature.ts";

const contentType = "application/json; charset=utf-8";
const respond = jsonResponder(contentType);

/** The account of calls that are placed by their application alone, where the service names none. */
export const defaultAccountSid = "f5586561-8ff0-4291-a51b-c7dfe4139ff9";

/** What the routes need beside what every API needs. */
export interface RestParts extends MarkupRestParts {
  /** The TeXML application's. */
  readonly applicationId: string;
  /** The account of calls that are placed by their application alone. */
  readonly accountSid: string;
  readonly signer: BodySigner;
}

type TelnyxRoute = Route<RestParts>;

const notFound = (): TelnyxError => new TelnyxError(404, 10005, "Resource not found");

const notAllowed = (method: string): TelnyxError =>
  new TelnyxError(405, 10015, `Method ${method} is not allowed`);

/** The fields of JSON, as a form has them. */
const formOfJson = (text: string): URLSearchParams => {
  const body = withoutThrowing((): unknown => JSON.parse(text));
  if (body === undefined) throw new TelnyxError(400, 10023, "The supplied JSON is invalid.");
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fieldsOf(body))) {
    const isPlain = isText(value) || typeof value === "number" || typeof value === "boolean";
    if (isPlain) form.append(name, String(value));
  }
  return form;
};

/** The fields of a body: JSON, or a form. */
const formOf = ({ request, text }: Asked): URLSearchParams => {
  const type = request.headers.get("Content-Type") ?? "";
  if (text === "") return new URLSearchParams();
  if (/^application\/json\b/i.test(type)) return formOfJson(text);
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return new URLSearchParams(text);
  const types = "'application/x-www-form-urlencoded' or 'application/json'";
  throw new TelnyxError(415, 10024, `Must encode request as ${types}`);
};

const uriOf = ({ served, accountSid }: MarkupCall): string =>
  `/v2/texml/Accounts/${accountSid}/Calls/${served.id}.json`;

/** A call as the API returns it. */
const resourceOf = (call: MarkupCall): object => {
  const { served, accountSid, answeredBy } = call;
  const { facts } = served;
  const { initiated_at, answered_at, ended_at, from_number, to_number } = facts;
  const status = statusOf(facts, failures);
  return {
    account_sid: accountSid,
    ...(answeredBy !== undefined && { answered_by: answeredBy }),
    caller_name: from_number,
    date_created: rfc2822(initiated_at),
    date_updated: rfc2822(ended_at ?? answered_at ?? initiated_at),
    direction: "outbound",
    // What is not known yet is left out, as a price always is: by Telnyx's OpenAPI these are strings.
    ...(ended_at !== undefined && {
      duration: String(facts.duration ?? 0),
      end_time: rfc2822(ended_at),
    }),
    from: from_number,
    from_formatted: from_number,
    sid: served.id,
    start_time: rfc2822(initiated_at),
    // The resource has no word for a call that doesn't ring yet.
    status: status === "initiated" ? "ringing" : status,
    to: to_number,
    to_formatted: to_number,
    uri: uriOf(call),
    // Telnyx says nothing of it here: it is the emulator's own field.
    ...flowErrorOf(served),
  };
};

/** The code of an outage. */
const outageCodeOf = (status: number): 10011 | 10007 => (status === 429 ? 10011 : 10007);

/** @throws {TelnyxError} where no request to the application can be signed */
const requireSigner = ({ signer }: RestParts): Promise<void> =>
  signer.prepare().catch((error) => {
    throw new TelnyxError(500, 10007, messageOf(error));
  });

/** Places a call of an account. */
const createCall =
  (accountSid: string): TelnyxRoute =>
  async (asked, parts) => {
    await requireSigner(parts);
    const fields = parseCall(formOf(asked), telnyxForm, asked.isUrl);
    return placeCall(fields, asked, parts, {
      notOwned: () => new TelnyxError(403, 10010, "From is not a number of the account", "From"),
      outage: (status, detail) => new TelnyxError(status, outageCodeOf(status), detail),
      start: () => {
        const { served } = parts.start(fields, asked.url.href, accountSid);
        const { from, to } = fields;
        const text = JSON.stringify({
          call_sid: served.id,
          sid: served.id,
          from,
          to,
          status: "queued",
        });
        return { status: 200, headers: { "Content-Type": contentType }, text };
      },
    });
  };

/** Places a call of an account; the application is in the body. */
const createAccountCall =
  (accountSid: string): TelnyxRoute =>
  async (asked, parts) => {
    const application = formOf(asked).get("ApplicationSid");
    if (!application) {
      throw new TelnyxError(422, 10004, "ApplicationSid is missing", "ApplicationSid");
    }
    if (application !== parts.applicationId) {
      throw new TelnyxError(422, 10017, "ApplicationSid is no application here", "ApplicationSid");
    }
    return createCall(accountSid)(asked, parts);
  };

const refuseFilter = (field: string, rule: string): never => {
  throw new TelnyxError(400, 10015, `${field} ${rule}`, field);
};

/** How Telnyx's list of calls is filtered: by the names of its documentation, and by those that its client sends. */
const listRules = { failures, before: ["<", "_lt"], after: [">", "_gt"], refuse: refuseFilter };

const listCalls: TelnyxRoute = async ({ url }, parts) =>
  respond(200, pageOfCalls(url, parts, listRules, resourceOf));

/** A call, and the account that a request names, where it names one. */
interface CallName {
  readonly sid: string;
  readonly account?: string;
}

/** @throws {TelnyxError} for an unknown call, and for one of another account */
const findOrThrow = ({ find }: RestParts, { sid, account }: CallName): MarkupCall => {
  const call = find(sid);
  if (call && (account === undefined || account === call.accountSid)) return call;
  throw notFound();
};

/** Ends a call, or makes it continue elsewhere. */
const update = (asked: Asked, parts: RestParts, name: CallName): MarkupCall => {
  const call = findOrThrow(parts, name);
  const reader = new FormReader(formOf(asked), telnyxForm, asked.isUrl);
  const changes = { status: reader.text("Status"), next: reader.next() };
  if (call.served.isOver) {
    const detail = "This call is no longer active and can't receive commands.";
    throw new TelnyxError(422, 90018, detail);
  }
  updateCall(call, changes, {
    status: () => new TelnyxError(422, 10027, "Status must be completed or canceled", "Status"),
    notAnswered: () => new TelnyxError(422, 10027, "The call is not answered"),
  });
  return call;
};

const oneCall = (name: CallName): TelnyxRoute =>
  byMethod(
    {
      POST: async (asked, parts) => respond(200, resourceOf(update(asked, parts, name))),
      GET: async (_, parts) => respond(200, resourceOf(findOrThrow(parts, name))),
    },
    notAllowed,
  );

/** The older request, which names no account. */
const updateOnly = (sid: string): TelnyxRoute =>
  byMethod(
    {
      POST: async (asked, parts) => {
        update(asked, parts, { sid });
        return respond(200, { data: { sid, status: "accepted" } });
      },
    },
    notAllowed,
  );

/** A recording as the API returns it. */
const resourceOfRecording = (call: MarkupCall, recording: CallRecording): object => {
  const { answered_at = 0 } = call.served.facts;
  const { sid, source, channels, from } = recording;
  const begun = rfc2822(answered_at + from);
  return {
    account_sid: call.accountSid,
    call_sid: call.served.id,
    channels,
    date_created: begun,
    duration: String(secondsOf(recording)),
    media_url: call.recordingUrl(sid),
    sid,
    source,
    start_time: begun,
    status: "completed",
  };
};

/** The recordings of a call. */
const recordings =
  (name: CallName): TelnyxRoute =>
  async ({ url }, parts) => {
    const call = findOrThrow(parts, name);
    const found = call.recordings
      .filter(({ status }) => status === "completed")
      .map((recording) => resourceOfRecording(call, recording));
    const { pathname: uri } = url;
    const end = Math.max(found.length - 1, 0);
    return respond(200, { recordings: found, start: 0, end, page: 0, page_size: 50, uri });
  };

/** The routes of Telnyx's API that calls of TeXML need. */
export const telnyxRoutes = (parts: RestParts): ApiRoutes => {
  const app: ApiRoutes = new Hono();
  const answer = restServer(
    {
      contentType,
      signIn: (request) => {
        const [, key = ""] =
          /^Bearer (.+)$/i.exec(request.headers.get("Authorization") ?? "") ?? [];
        if (!parts.account.accepts(key)) {
          throw new TelnyxError(401, 10009, "The API key is missing or invalid.");
        }
      },
      incomplete: () => new TelnyxError(400, 10015, "The body is too long, or too late."),
      scheme: "Bearer",
      idHeader: "x-request-id",
      maxUrl,
    },
    parts,
  );
  app.all("/v2/texml/calls/:application", ({ req, env }) => {
    const isOwn = req.param("application") === parts.applicationId;
    const route = byMethod({ POST: createCall(parts.accountSid) }, notAllowed);
    return answer(req.raw, env, isOwn ? route : missing);
  });
  const account = "/v2/texml/Accounts/:account";
  app.all(`${account}/:calls{Calls(\\.json)?}`, ({ req, env }) => {
    const create = createAccountCall(req.param("account"));
    return answer(req.raw, env, byMethod({ POST: create, GET: listCalls }, notAllowed));
  });
  app.all("/v2/texml/calls/:sid/update", ({ req, env }) =>
    answer(req.raw, env, updateOnly(req.param("sid"))),
  );
  app.all(`${account}/Calls/:sid`, ({ req, env }) => {
    const name = { sid: req.param("sid").replace(/\.json$/, ""), account: req.param("account") };
    return answer(req.raw, env, oneCall(name));
  });
  app.all(`${account}/Calls/:sid/Recordings.json`, ({ req, env }) =>
    answer(req.raw, env, byMethod({ GET: recordings(req.param()) }, notAllowed)),
  );
  // As with Telnyx, whoever has a recording's URL may fetch it.
  app.get("/recordings/:file{.+\\.wav}", ({ req, notFound: none }) => {
    const sid = req.param("file").replace(".wav", "");
    const found = recordingNamed(parts, sid);
    return (found && fileOf(found.call, found.recording, req.raw)) ?? none();
  });
  app.notFound(({ req, env }) => answer(req.raw, env, notEmulated));
  return app;
};

const missing: TelnyxRoute = async () => {
  throw notFound();
};

const notEmulated: TelnyxRoute = async ({ url }) => {
  throw new TelnyxError(404, 10005, notEmulatedAt(url.pathname));
};
