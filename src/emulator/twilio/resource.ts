import { type MarkupCall, rfc2822, statusOf } from "../markup/call.ts";
import { failures } from "./carrier.ts";

/** A call as the API returns it. */
export const resourceOf = ({ call, accountSid, answeredBy }: MarkupCall): object => {
  const { facts } = call;
  const { initiated_at, answered_at, ended_at, from_number, to_number } = facts;
  const uri = `/2010-04-01/Accounts/${accountSid}/Calls/${call.id}`;
  const parts = ["Events", "Notifications", "Payments", "Recordings", "Siprec", "Streams"];
  const status = statusOf(facts, failures);
  return {
    sid: call.id,
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
    subresource_uris: Object.fromEntries(
      parts.map((part) => [part.toLowerCase(), `${uri}/${part}.json`]),
    ),
  };
};
