import { stateAfter } from "../../calls/call.ts";
import { fail, fieldsOf, isText } from "../../lib/check.ts";
import type { CarrierLive, LiveRequest } from "../../service.ts";
import { isUnanswered } from "./application.ts";
import { next } from "./ncco.ts";
import { answeredBy, numberOf, statuses } from "./wire.ts";

/** The hosts of Vonage's API, by region: they also have the recordings of their calls. */
const regionalHosts = (): readonly string[] =>
  ["us", "eu", "ap"]
    .flatMap((area) => ["", "-1", "-2", "-3", "-4"].map((part) => `api-${area}${part}`))
    .flatMap((name) => [`${name}.nexmo.com`, `${name}.vonage.com`]);

/** The number or the SIP address of an endpoint; some documents show it in a list. */
const endpointOf = (value: unknown): string => {
  const { number, uri } = fieldsOf([value].flat()[0]);
  return numberOf(number) ?? (isText(uri) ? uri : "");
};

const read: CarrierLive["read"] = (raw) => {
  const { uuid, from, to, status, duration, price } = raw;
  if (!isText(uuid) || !uuid) return;
  const call = {
    id: uuid,
    from_number: endpointOf(from),
    to_number: endpointOf(to),
    ...(isText(price) && { cost: price }),
  };
  const answered_by = answeredBy.get(status);
  if (answered_by) return { ...call, state: "answered", answered_by };
  if (isUnanswered(raw)) return { ...call, state: "failed" };
  const meaning = statuses.get(status);
  return {
    ...call,
    state: stateAfter.get(meaning?.type),
    ...(meaning?.reason && { reason: meaning.reason }),
    ...(status === "completed" &&
      /^\d{1,9}$/.test(String(duration)) && { duration: Number(duration) }),
  };
};

const urlOf = (id: string, baseUrl: string): string =>
  `${baseUrl.replace(/\/+$/, "")}/v1/calls/${encodeURIComponent(id)}`;

const update = (id: string, baseUrl: string, body: object): LiveRequest => ({
  method: "PUT",
  url: urlOf(id, baseUrl),
  type: "application/json",
  body: JSON.stringify(body),
});

/** Keys as Vonage has them: a pause of 500 ms is a `p`. */
const pausesOf = (keys: string): string =>
  /[A-D]/.test(keys)
    ? fail("keys", "must be 0-9, *, # and w on Vonage")
    : keys.replaceAll("w", "p");

/** How calls of an application are read, ended and redirected. */
export const liveSide = (): CarrierLive => ({
  get: (id, baseUrl) => ({ method: "GET", url: urlOf(id, baseUrl) }),
  end: (id, baseUrl) => update(id, baseUrl, { action: "hangup" }),
  // Inline, as Vonage would fetch an NCCO by GET, with the numbers of the call in the query.
  redirect: ({ id: call_id, ...numbers }, flow_url, baseUrl) =>
    update(call_id, baseUrl, {
      action: "transfer",
      destination: { type: "ncco", ncco: next(flow_url, { call_id, ...numbers }) },
    }),
  press: (id, keys, baseUrl) => ({
    ...update(id, baseUrl, { digits: pausesOf(keys) }),
    url: `${urlOf(id, baseUrl)}/dtmf`,
  }),
  read,
  hasEnded: () => false,
  credentialHosts: ["api.nexmo.com", ...regionalHosts()],
  storageHosts: [],
});
