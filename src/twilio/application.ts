import type { Secret } from "../callbacks/signed-url.ts";
import type { Dial, Hangup, Play } from "../flows/actions.ts";
import {
  branchesOf,
  continuationIn,
  firstBranch,
  isBranch,
  signContinuation,
} from "../flows/continuation.ts";
import { isText } from "../lib/check.ts";
import { currentSecrets } from "../lib/hmac.ts";
import type { ApplicationSide, FlowInput } from "../service.ts";
import { branches, statuses } from "../twiml/statuses.ts";
import { verifySignature } from "./signature.ts";
import { type Redirect, twimlOf } from "./twiml.ts";
import { declined } from "./wire.ts";

/** The account's auth token, with which Twilio signs: several while one replaces another, or a function. */
export type AuthToken = Secret | (() => Secret | undefined | Promise<Secret | undefined>);

/**
 * The fields of a form of Twilio's, whose names all begin with a capital. Twilio has each of them once; of two
 * values its signature doesn't tell which is meant.
 */
const formOf = (text: string): Readonly<Record<string, string>> | undefined => {
  const given = [...new URLSearchParams(text)].filter(([name]) => /^[A-Z]/.test(name));
  const fields = Object.fromEntries(given);
  return fields.AccountSid && Object.keys(fields).length === given.length ? fields : undefined;
};

/** ISO 8601 of a time in RFC 2822. */
const isoOf = (time = ""): string | undefined => {
  const at = Date.parse(time);
  return at ? new Date(at).toISOString() : undefined;
};

/** The type of a notification that is not about the state of a call. */
const otherType = ({
  CallStatus,
  RecordingStatus,
  AnsweredBy,
}: Readonly<Record<string, string>>) => {
  if (RecordingStatus) return `recording.${RecordingStatus}`;
  if (CallStatus) return `call.${CallStatus}`;
  return AnsweredBy ? "call.machine_detected" : "unknown";
};

const eventOf = (text: string): unknown => {
  const fields = formOf(text);
  if (!fields) return;
  const { CallSid, CallStatus = "", RecordingSid, RecordingStatus, SequenceNumber } = fields;
  const { CallDuration = "", SipResponseCode } = fields;
  const status = RecordingStatus ? undefined : statuses.get(CallStatus);
  const type = status?.type ?? otherType(fields);
  const subject = RecordingStatus ? RecordingSid : CallSid;
  const isDeclined = status?.reason === "no_answer" && SipResponseCode === declined;
  const occurred_at = isoOf(fields.Timestamp);
  return {
    id: subject && `${subject}.${SequenceNumber ?? type}`,
    type,
    api_version: fields.ApiVersion,
    occurred_at,
    account_id: fields.AccountSid,
    call_id: CallSid,
    // Those of the wrong type are left out: an absent field is no text.
    data: {
      ...fields,
      from: fields.From,
      to: fields.To,
      reason: isDeclined ? "rejected" : status?.reason,
      duration:
        status?.type === "call.completed" && /^\d+$/.test(CallDuration)
          ? Number(CallDuration)
          : undefined,
      recording_url: fields.RecordingUrl,
      answered_by: fields.AnsweredBy,
      ...(status?.time && { [status.time]: occurred_at }),
    },
  };
};

const flowOf = (text: string): unknown => {
  const fields = formOf(text);
  if (!fields) return;
  const { CallSid, AccountSid, From, To, Direction = "", AnsweredBy } = fields;
  return {
    ...fields,
    call_id: CallSid,
    account_id: AccountSid,
    from_number: From,
    to_number: To,
    direction: Direction.replace(/^outbound.*/, "outbound"),
    ...(AnsweredBy && { answered_by: AnsweredBy }),
  };
};

/**
 * The URL that decides what follows a `dial`.
 *
 * @throws {BadParametersException} that names a branch, without the option `secret`
 */
const branchesUrlOf = async (dial: Dial, input: FlowInput): Promise<string | undefined> => {
  const branch = firstBranch(dial);
  const { flow_url } = dial;
  return branch && signContinuation({ ...branchesOf(dial), flow_url }, input, branch);
};

/** What follows a `dial`, out of the signed URL that the request came to; `undefined` for any other request. */
const followingDial = (input: FlowInput): Play | Hangup | Redirect | undefined => {
  const decided = continuationIn(input);
  if (!decided) return;
  const branch = branches.get(input.call.DialCallStatus);
  const action = branch && decided[branch];
  if (isBranch(action)) return action;
  const { flow_url } = decided;
  return isText(flow_url) ? { action: "redirect", flow_url } : { action: "hangup" };
};

/** Milliseconds until a flow request is answered: Twilio waits 15 s. */
const flowTimeout = 12_000;

/**
 * How Twilio's requests to the application are verified, read and answered.
 *
 * @param authToken - without it nothing of Twilio's own is verified
 */
export const applicationSide = ({
  authToken,
}: {
  readonly authToken?: AuthToken | undefined;
}): ApplicationSide => ({
  verify:
    authToken === undefined
      ? undefined
      : async (request, body, publicUrl) => {
          const tokens = await currentSecrets("authToken", authToken);
          return verifySignature(tokens, request, body, publicUrl);
        },
  decodeEvent: eventOf,
  decodeFlow: flowOf,
  respond: async (decide, input) => {
    const action = (input && followingDial(input)) ?? (await decide());
    const branchesUrl =
      action.action === "dial" && input ? await branchesUrlOf(action, input) : undefined;
    return new Response(twimlOf(action, branchesUrl), {
      headers: { "Content-Type": "text/xml" },
    });
  },
  flowTimeout,
});
