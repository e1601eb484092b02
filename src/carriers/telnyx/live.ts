import { isOfCall } from "../../calls/call.ts";
import { fail, isText } from "../../lib/check.ts";
import type { CarrierLive, LiveRequest } from "../../service.ts";
import { formOf, readResource, recordingsIn } from "../xml/live.ts";
import { maxUrl } from "./wire.ts";

/** The code of a request for a call that has ended, "Call has already ended". */
const ended = "90018";

/**
 * How calls of an account are read, ended and redirected.
 *
 * @param accountSid - without it, a call can only be ended
 */
export const liveSide = (accountSid: string | undefined): CarrierLive => {
  const texml = (baseUrl: string): string => `${baseUrl.replace(/\/+$/, "")}/v2/texml`;
  // As in Telnyx's own client, a call's colon stays.
  const pathOf = (id: string): string => encodeURIComponent(id).replaceAll("%3A", ":");
  const urlOf = (id: string, baseUrl: string): string => {
    if (!accountSid) fail("accountSid", "is missing: give it to telnyx({ accountSid })");
    return `${texml(baseUrl)}/Accounts/${accountSid}/Calls/${pathOf(id)}`;
  };
  const update = (url: string, fields: Readonly<Record<string, string>>): LiveRequest => ({
    ...{ method: "POST", url, type: "application/x-www-form-urlencoded" },
    body: formOf(fields),
  });
  return {
    get: (id, baseUrl) => ({ method: "GET", url: urlOf(id, baseUrl) }),
    end: (id, baseUrl) => {
      const Status = "completed";
      if (accountSid) return update(urlOf(id, baseUrl), { Status });
      // Telnyx calls this one deprecated, and it is the only one without an account.
      const url = `${texml(baseUrl)}/calls/${pathOf(id)}/update`;
      return { method: "POST", url, type: "application/json", body: JSON.stringify({ Status }) };
    },
    redirect: ({ id }, Url, baseUrl) => {
      if (Url.length > maxUrl) fail("flow_url", `must be at most ${maxUrl} characters`);
      return update(urlOf(id, baseUrl), { Url, Method: "POST" });
    },
    read: readResource,
    recordings: {
      list: (id, baseUrl) => ({ method: "GET", url: `${urlOf(id, baseUrl)}/Recordings.json` }),
      // Their order isn't documented.
      urlIn: (body, _, id, recordingId) => {
        const timeOf = (time: unknown): number => Date.parse(String(time)) || 0;
        const ready = recordingsIn(body, recordingId).filter(
          ({ call_sid, media_url }) => isOfCall(call_sid ?? id, id) && isText(media_url),
        );
        const [latest] = ready.toSorted(
          (one, other) => timeOf(other.date_created) - timeOf(one.date_created),
        );
        return isText(latest?.media_url) ? latest.media_url : undefined;
      },
    },
    hasEnded: ({ code, reason }) => code === 422 && reason === ended,
    credentialHosts: ["api.telnyx.com"],
    storageHosts: [
      "s3.amazonaws.com/telephony-recorder-prod/",
      "telephony-recorder-prod.s3.amazonaws.com",
    ],
  };
};
