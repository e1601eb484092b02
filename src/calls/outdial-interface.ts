import { fail, fieldsOf, isText } from "../lib/check.ts";
import { apiOf } from "../lib/url.ts";
import type { Settings } from "../options.ts";
import type { CarrierLive, LiveRequest, RecordingList } from "../service.ts";
import { isOfCall, stateAfter } from "./call.ts";

/** Whole seconds between two times in ISO 8601; `undefined` if one is absent. */
const secondsBetween = (from: unknown, to: unknown): number | undefined => {
  const seconds = (Date.parse(String(to)) - Date.parse(String(from))) / 1000;
  return seconds >= 0 ? Math.round(seconds) : undefined;
};

const textOf = (value: unknown): string => (isText(value) ? value : "");

const read: CarrierLive["read"] = (raw) => {
  // As for a new call, some services put it into `data`.
  const call = fieldsOf(raw.data).id ? fieldsOf(raw.data) : raw;
  const { id, from_number, to_number, state, reason, answered_by, answered_at, ended_at } = call;
  if (!isText(id) || !id) return;
  return {
    id,
    from_number: textOf(from_number),
    to_number: textOf(to_number),
    state: stateAfter.get(`call.${state}`),
    ...(isText(reason) && { reason }),
    ...(state === "completed" && { duration: secondsBetween(answered_at, ended_at) }),
    ...(isText(answered_by) && { answered_by }),
  };
};

/** The URL of the latest recording of a call. */
const recordingIn: RecordingList["urlIn"] = (raw, _, asked, recordingId) => {
  if (recordingId !== undefined) return; // It lists URLs alone.
  const { id, legs } = fieldsOf(raw.data).id ? fieldsOf(raw.data) : raw;
  if (!isOfCall(id, asked)) return;
  const listed = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : []);
  return listed(legs)
    .flatMap((leg) => listed(fieldsOf(leg).recordings))
    .map((recording) => fieldsOf(recording).url)
    .findLast(isText);
};

/**
 * How calls of outdial's own interface are read and ended.
 *
 * @param path - the option: `"auto"` is the path that deployed services have, and then the other one
 */
export const ownLive = (path: Settings["path"]): CarrierLive => {
  const requestOf = (baseUrl: string, end: string): Pick<LiveRequest, "url" | "otherUrl"> => {
    const urlOf = (name: string) => `${apiOf(baseUrl)}/${name}/${end}`;
    if (path !== "auto") return { url: urlOf(path ?? "calls") };
    return { url: urlOf("voice/calls"), otherUrl: urlOf("calls") };
  };
  return {
    get: (id, baseUrl) => ({ method: "GET", ...requestOf(baseUrl, encodeURIComponent(id)) }),
    end: (id, baseUrl) => ({
      method: "POST",
      ...requestOf(baseUrl, `${encodeURIComponent(id)}/hangup`),
    }),
    redirect: () =>
      fail("service", "must be a carrier: a call of this interface can't continue elsewhere"),
    read,
    recordings: {
      list: (id, baseUrl) => ({
        method: "GET",
        ...requestOf(baseUrl, encodeURIComponent(id)),
      }),
      urlIn: recordingIn,
    },
    hasEnded: ({ code, reason }) => code === 409 && reason === "call_not_live",
    credentialHosts: [],
    storageHosts: [],
  };
};
