import type { Call } from "../call.ts";
import type { CallFacts, Reason } from "../history.ts";
import type { CallFields, Next } from "./fields.ts";
import type { Fields } from "./signature.ts";

/** What Twilio knows of a call beyond what every call has. */
export interface TwilioCall {
  readonly call: Call;
  fields: CallFields;
  /** How many events of the call were told. */
  eventCount: number;
  /** Whether its telephone has rung. */
  hasRung: boolean;
  /** What answered, once it is known. */
  answeredBy: string | undefined;
  /** Makes the call continue elsewhere; absent while it isn't answered. */
  redirect: ((next: Next) => void) | undefined;
}

/** A time in RFC 2822, by its milliseconds since 1970. */
export const rfc2822 = (time: number): string =>
  new Date(time).toUTCString().replace("GMT", "+0000");

interface Ending {
  readonly status: string;
  /** The SIP response that ended the call. */
  readonly sip: number;
}

/** How a call that nobody answered ends; a rejected one is not told from an unanswered one. */
const endings: Readonly<Partial<Record<Reason, Ending>>> = {
  busy: { status: "busy", sip: 486 },
  no_answer: { status: "no-answer", sip: 487 },
  rejected: { status: "no-answer", sip: 603 },
  unreachable: { status: "failed", sip: 404 },
  canceled: { status: "canceled", sip: 487 },
};

export const endingOf = ({ reason = "normal" }: Pick<CallFacts, "reason">): Ending =>
  endings[reason] ?? { status: "completed", sip: 200 };

const states = { initiated: "initiated", ringing: "ringing", answered: "in-progress" } as const;

/** The status of a call in requests to the application. */
export const statusOf = (facts: Pick<CallFacts, "state" | "reason">): string =>
  facts.state === "completed" || facts.state === "failed"
    ? endingOf(facts).status
    : states[facts.state];

/** The SID of a call's recording. */
export const recordingSidOf = (callSid: string): string => `RE${callSid.slice(2)}`;

/** The fields of every request about a call. */
export const fieldsOf = ({ call, answeredBy }: TwilioCall, accountSid: string): Fields => {
  const { from_number, to_number } = call.params;
  return {
    AccountSid: accountSid,
    ApiVersion: "2010-04-01",
    CallSid: call.id,
    CallStatus: statusOf(call.facts),
    Called: to_number,
    Caller: from_number,
    Direction: "outbound-api",
    From: from_number,
    To: to_number,
    ...(answeredBy !== undefined && { AnsweredBy: answeredBy }),
  };
};

/** A call as the API returns it. */
export const resourceOf = ({ call, answeredBy }: TwilioCall, accountSid: string): object => {
  const { facts } = call;
  const { initiated_at, answered_at, ended_at, from_number, to_number } = facts;
  const uri = `/2010-04-01/Accounts/${accountSid}/Calls/${call.id}`;
  const parts = ["Events", "Notifications", "Payments", "Recordings", "Siprec", "Streams"];
  const status = statusOf(facts);
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
