import { isOfCall } from "../../calls/call.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import type { CarrierLive, CauseArea, LiveRequest } from "../../service.ts";
import { formOf, readResource, recordingsIn } from "../xml/live.ts";
import { hostOf } from "./client.ts";
import type { TwilioSettings } from "./options.ts";

/** The regions of Twilio's API, below whose hosts recordings are, too. */
const regions = [".us1.twilio.com", ".ie1.twilio.com", ".au1.twilio.com"];

/**
 * What Twilio's errors are about, by the thousands of their codes.
 *
 * @see https://www.twilio.com/docs/api/errors
 */
export const areas: Readonly<Record<string, CauseArea>> = {
  11: "request",
  12: "document",
  13: "step",
  15: "notification",
  21: "number",
  31: "stream",
};

/** How much of a notification's text is read, in characters. */
const maxText = 16_000;

/** The notifications of a call. Their text is a form; beside `Msg`, it has URLs with their signatures, and digits. */
const causesIn: NonNullable<CarrierLive["causes"]>["causesIn"] = (
  { notifications, next_page_uri },
  id,
) => {
  if (!Array.isArray(notifications)) return;
  const causes = notifications
    .map(fieldsOf)
    .filter(({ call_sid }) => isOfCall(call_sid, id))
    .map(({ error_code, log, message_text }) => {
      const [code, thousands = ""] = /^(\d\d)\d{3}$/.exec(String(error_code)) ?? [];
      const message = new URLSearchParams(
        isText(message_text) ? message_text.slice(0, maxText) : "",
      );
      const [status] = /^[1-5]\d\d$/.exec(message.get("httpResponse") ?? "") ?? [];
      return {
        code,
        ...(code && { link: `https://www.twilio.com/docs/errors/${code}` }),
        text: message.get("Msg") || (status && `HTTP ${status}`),
        isWarning: String(log) === "1",
        area: areas[thousands],
      };
    });
  return { causes, isWhole: !next_page_uri };
};

/** How calls of an account are read, ended and redirected. */
export const liveSide = (options: TwilioSettings): CarrierLive => {
  const rootOf = (baseUrl: string): string =>
    `${baseUrl.replace(/\/+$/, "")}/2010-04-01/Accounts/${options.accountSid}`;
  const urlOf = (id: string, baseUrl: string, end = ""): string =>
    `${rootOf(baseUrl)}/Calls/${encodeURIComponent(id)}${end}.json`;
  const update = (
    id: string,
    baseUrl: string,
    fields: Readonly<Record<string, string>>,
  ): LiveRequest => ({
    method: "POST",
    url: urlOf(id, baseUrl),
    type: "application/x-www-form-urlencoded",
    body: formOf(fields),
  });
  return {
    get: (id, baseUrl) => ({ method: "GET", url: urlOf(id, baseUrl) }),
    end: (id, baseUrl) => update(id, baseUrl, { Status: "completed" }),
    redirect: ({ id }, flow_url, baseUrl) => update(id, baseUrl, { Url: flow_url, Method: "POST" }),
    read: readResource,
    recordings: {
      list: (id, baseUrl) => ({ method: "GET", url: urlOf(id, baseUrl, "/Recordings") }),
      // The latest comes first; one that is recorded at this moment has no file.
      urlIn: (body, baseUrl, id, recordingId) => {
        const { sid } =
          recordingsIn(body, recordingId).find(
            ({ call_sid, status }) => isOfCall(call_sid ?? id, id) && status === "completed",
          ) ?? {};
        return isText(sid) ? `${rootOf(baseUrl)}/Recordings/${encodeURIComponent(sid)}` : undefined;
      },
    },
    causes: {
      list: (id, baseUrl) => ({ method: "GET", url: urlOf(id, baseUrl, "/Notifications") }),
      causesIn,
    },
    // Error 21220 is also that of a call that rings.
    hasEnded: () => false,
    credentialHosts: ["api.twilio.com", hostOf(options), ...regions],
    storageHosts: [],
  };
};
