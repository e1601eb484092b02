import type { Secret } from "../callbacks/signed-url.ts";
import type { Dial, Hangup, Play } from "../flows/actions.ts";
import { fail, isRecord, isText } from "../lib/check.ts";
import { base64url, utf8 } from "../lib/encoding.ts";
import { macOf } from "../lib/hmac.ts";
import { urlRule } from "../lib/url.ts";
import type { ApplicationSide, FlowInput } from "../service.ts";
import { verifySignature } from "./signature.ts";
import { type Redirect, twimlOf } from "./twiml.ts";
import { branches, declined, statuses } from "./wire.ts";

/** The account's auth token, with which Twilio signs: several while one replaces another, or a function. */
export type AuthToken = Secret | (() => Secret | undefined | Promise<Secret | undefined>);

/** Whether it can be a token: an empty one would accept what anybody signs. */
const isToken = (token: string | undefined): token is string => isText(token) && token !== "";

/** The fields of a form of Twilio's, whose names all begin with a capital. */
const formOf = (text: string): Readonly<Record<string, string>> | undefined => {
  const fields = Object.fromEntries(
    [...new URLSearchParams(text)].filter(([name]) => /^[A-Z]/.test(name)),
  );
  return fields.AccountSid ? fields : undefined;
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

/** Marks the URL at which `flowHandler` itself answers how a `dial` ended. The token covers it. */
const marker = "outdial-dial=1";

const branchesPath = new RegExp(`[?&]${marker}&outdial=[^&]*$`);

/** How long that URL is valid, in seconds: no call is longer. */
const validity = 86_400;

/**
 * Signs the URL at which `flowHandler` itself answers how a `dial` ended. It carries the branches.
 *
 * @throws {BadParametersException} that names a branch, without the option `secret`
 */
const signBranches = async (
  { on_busy, on_no_answer, on_failure, flow_url }: Dial,
  input: FlowInput,
): Promise<string | undefined> => {
  const decided = { on_busy, on_no_answer, on_failure };
  const branch = Object.entries(decided).find(([, action]) => action)?.[0];
  if (!branch) return;
  const { request, publicUrl, pathIn } = input;
  const [secret] = [input.secret].flat();
  if (!secret) return fail(branch, "needs the option secret of flowHandler");
  const path = pathIn(request.url, publicUrl).replace(/[?&]outdial=[^&]*$/, "");
  const context = base64url(utf8(JSON.stringify({ ...decided, flow_url })));
  const expires = Math.ceil(Date.now() / 1000) + validity;
  const covered = `${path}${path.includes("?") ? "&" : "?"}${marker}&outdial=${expires}.${context}.`;
  const mac = base64url(await macOf(secret, utf8(covered)));
  const url = new URL(publicUrl ?? request.url).origin + covered + mac;
  const rule = urlRule(url);
  return rule ? fail(branch, `is answered at a signed URL, which ${rule}`) : url;
};

/** Whether a branch was given: the schema had checked it before it was signed. */
const isBranch = (value: unknown): value is Play | Hangup => isRecord(value);

/** What follows a `dial`, out of the signed URL that the request came to; `undefined` for any other request. */
const followingDial = (input: FlowInput): Play | Hangup | Redirect | undefined => {
  const { call, context, request, publicUrl, secret, pathIn } = input;
  if (!secret || !branchesPath.test(pathIn(request.url, publicUrl))) return;
  const branch = branches.get(call.DialCallStatus);
  const action = branch && context[branch];
  if (isBranch(action)) return action;
  const { flow_url } = context;
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
          const tokens = [typeof authToken === "function" ? await authToken() : authToken].flat();
          if (!tokens.every(isToken)) return fail("authToken", "must be a string, not empty");
          return verifySignature(tokens, request, body, publicUrl);
        },
  decodeEvent: eventOf,
  decodeFlow: flowOf,
  respond: async (decide, input) => {
    const action = (input && followingDial(input)) ?? (await decide());
    const branchesUrl =
      action.action === "dial" && input ? await signBranches(action, input) : undefined;
    return new Response(twimlOf(action, branchesUrl), {
      headers: { "Content-Type": "text/xml" },
    });
  },
  flowTimeout,
});
