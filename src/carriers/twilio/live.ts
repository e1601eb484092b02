import { isText } from "../../lib/check.ts";
import type { CarrierLive, LiveRequest } from "../../service.ts";
import { formOf, readResource, recordingsIn } from "../xml/live.ts";
import { hostOf } from "./client.ts";
import type { TwilioSettings } from "./options.ts";

/** The regions of Twilio's API, below whose hosts recordings are, too. */
const regions = [".us1.twilio.com", ".ie1.twilio.com", ".au1.twilio.com"];

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
      urlIn: (body, baseUrl) => {
        const { sid } = recordingsIn(body).find(({ status }) => status === "completed") ?? {};
        return isText(sid) ? `${rootOf(baseUrl)}/Recordings/${encodeURIComponent(sid)}` : undefined;
      },
    },
    // Error 21220 is also that of a call that rings.
    hasEnded: () => false,
    credentialHosts: ["api.twilio.com", hostOf(options), ...regions],
    storageHosts: [],
  };
};
