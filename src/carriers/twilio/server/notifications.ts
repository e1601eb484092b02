import type { FlowFailure } from "../../../server/call.ts";
import { byMethod, jsonResponder, type Route } from "../../../server/rest.ts";
import { type MarkupCall, rfc2822 } from "../../xml/server/call.ts";
import { pageOf } from "../../xml/server/resources.ts";
import { contentType, notAllowed, notFound, TwilioError } from "./problems.ts";
import type { RecordingParts } from "./recordings.ts";

const respond = jsonResponder(contentType);

/** The SID of a call's notification, by its place in the list: the same on every request. */
const sidOf = (callSid: string, at: number): string =>
  `NO${callSid.slice(2, -4)}${at.toString(16).padStart(4, "0").slice(-4)}`;

/** The text of a notification, which is a form: as Twilio's, it has the whole URL, with what is signed in it. */
const textOf = ({ error, asked }: FlowFailure): string =>
  `${new URLSearchParams({
    EmailNotification: "false",
    LogLevel: "ERROR",
    sourceComponent: "12000",
    Msg: error.message,
    ...(asked?.status !== undefined && { httpResponse: String(asked.status) }),
    ...(error.code !== undefined && { ErrorCode: String(error.code) }),
    ...(asked?.url && { url: asked.url }),
  })}`;

/** A notification as the list has it: the request's fields and the response are in its own resource alone. */
const resourceOf =
  ({ served, accountSid }: MarkupCall) =>
  ({ failure, at }: { readonly failure: FlowFailure; readonly at: number }): object => {
    const { error, asked } = failure;
    const date = rfc2822(Date.parse(error.at));
    const sid = sidOf(served.id, at);
    const code = error.code === undefined ? null : String(error.code);
    return {
      account_sid: accountSid,
      api_version: "2010-04-01",
      call_sid: served.id,
      date_created: date,
      date_updated: date,
      error_code: code,
      log: "0",
      message_date: date,
      message_text: textOf(failure),
      more_info: code && `https://www.twilio.com/docs/errors/${code}`,
      request_method: asked?.request?.method ?? null,
      request_url: asked?.url || null,
      sid,
      uri: `/2010-04-01/Accounts/${accountSid}/Calls/${served.id}/Notifications/${sid}.json`,
    };
  };

/** What the list is filtered and paged by. */
const listed: ReadonlySet<string> = new Set(["Log", "Page", "PageSize", "PageToken"]);

/** The notifications of one call: what could not be followed of its flow. */
export const notificationsOf = (callSid: string): Route<RecordingParts> =>
  byMethod(
    {
      GET: async ({ url }, { find }) => {
        const call = find(callSid);
        if (!call) throw notFound(url.pathname);
        const { searchParams: query } = url;
        const other = [...query.keys()].find((name) => !listed.has(name));
        if (other !== undefined) throw new TwilioError(400, 20_001, `${other} is not emulated`);
        // All are errors: the emulator has no warnings of Twilio's.
        const isWanted = (query.get("Log") || "0") === "0";
        const all = call.served.flowFailures.map((failure, at) => ({ failure, at }));
        return respond(200, pageOf(url, "notifications", isWanted ? all : [], resourceOf(call)));
      },
    },
    notAllowed,
  );
