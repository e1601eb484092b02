import type { EventData } from "../../callbacks/event.ts";
import type { Secret } from "../../callbacks/signed-url.ts";
import type { AnyAction, Branch } from "../../flows/actions.ts";
import { branchesOf, firstBranch, signDialed, signOwnUrl } from "../../flows/continuation.ts";
import type { CarrierWebhooks, FlowInput } from "../../flows/webhooks.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import { utf8 } from "../../lib/encoding.ts";
import { currentSecrets } from "../../lib/hmac.ts";
import { urlRule } from "../../lib/url.ts";
import { type LegEvents, nccoOf, type Subject } from "./ncco.ts";
import { verifySignature } from "./signature.ts";
import { answeredBy, branches, numberOf, type Status, statuses } from "./wire.ts";

/** The account's signature secret: several while one replaces another, or a function. */
export type SignatureSecret = Secret | (() => Secret | undefined | Promise<Secret | undefined>);

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a webhook of Vonage's: whatever it is about has a UUID. */
const fieldsIn = (text: string): Fields | undefined => {
  const fields = fieldsOf(JSON.parse(text));
  const { uuid, call_uuid, recording_uuid, conversation_uuid } = fields;
  return [uuid, call_uuid, recording_uuid, conversation_uuid].some(isText) ? fields : undefined;
};

/** ISO 8601 in UTC. */
const isoOf = (time: unknown): string | undefined => {
  const at = isText(time) ? Date.parse(time) : Number.NaN;
  return at ? new Date(at).toISOString() : undefined;
};

/**
 * Whether a `completed` call was never answered: Vonage sends that after `busy`, `timeout` and the like, too. It has no
 * reason, so it is no `call.failed`: that is the event before it.
 */
export const isUnanswered = ({ status, start_time, duration }: Fields): boolean =>
  status === "completed" && !start_time && Number(duration ?? Number.NaN) === 0;

/** Whether it is about a leg that an action has added: a call of `calls.create` goes to a telephone. */
const isOtherLeg = ({ to }: Fields): boolean => isText(to) && !/^\+?\d+$/.test(to);

const statusOf = (fields: Fields): Status | undefined =>
  isOtherLeg(fields) || isUnanswered(fields) ? undefined : statuses.get(fields.status);

/** Whether it is the error of an NCCO, which has no name: it names the conversation, and says why. */
const isFlowError = ({ status, type, uuid, conversation_uuid, reason }: Fields): boolean =>
  [status, type, uuid].every((each) => each === undefined) &&
  isText(conversation_uuid) &&
  isText(reason);

/** The type of a notification that is not about the state of the call. */
const otherType = (fields: Fields): string => {
  const { status, recording_url, type = "unknown" } = fields;
  if (isFlowError(fields)) return "call.flow_error";
  if (isUnanswered(fields) && !isOtherLeg(fields)) return "call.ended";
  if (recording_url) return "recording.completed";
  if (answeredBy.has(status)) return "call.machine_detected";
  return `${isOtherLeg(fields) ? "leg" : "call"}.${status ?? type}`;
};

/** What a `sub_state` says of a machine whose greeting is over. */
const beeps: ReadonlyMap<string, EventData["answered_by"]> = new Map([
  ["beep_start", "machine_end_beep"],
  ["beep_timeout", "machine_end_other"],
]);

/** Who answered, in the words of `EventData`. */
const whoAnswered = ({ status, sub_state }: Fields): unknown =>
  (status === "machine" && isText(sub_state) && beeps.get(sub_state)) || answeredBy.get(status);

const reasonOf = ({ reason, details }: Status, { detail }: Fields) =>
  (isText(detail) && details && Object.hasOwn(details, detail) && details[detail]) || reason;

const eventOf = (text: string, account_id: string): unknown => {
  const fields = fieldsIn(text);
  if (!fields) return;
  const { uuid, call_uuid, recording_uuid, duration, timestamp, end_time, sub_state } = fields;
  const status = statusOf(fields);
  const type = status?.type ?? otherType(fields);
  const call_id = uuid ?? call_uuid;
  const occurred_at = isoOf(timestamp);
  const isCompleted = status?.type === "call.completed";
  const subject = call_id ?? recording_uuid;
  const stamp = [subject, fields.status ?? type, sub_state, timestamp].filter(isText).join(".");
  return {
    id: isText(subject) ? stamp : undefined,
    type,
    occurred_at,
    account_id,
    call_id,
    // Those of the wrong type are left out: an absent field is no text.
    data: {
      ...fields,
      from: numberOf(fields.from),
      to: numberOf(fields.to),
      reason: status && reasonOf(status, fields),
      ...(isFlowError(fields) && { reason: "flow_error", flow_error: fields.reason }),
      duration: isCompleted && /^\d+$/.test(String(duration)) ? Number(duration) : undefined,
      cost: fields.price,
      recording_url: fields.recording_url,
      answered_by: whoAnswered(fields),
      beep: (isText(sub_state) && beeps.has(sub_state)) || undefined,
      ...(status?.time && {
        [status.time]: (status.time === "hangup_time" && isoOf(end_time)) || occurred_at,
      }),
    },
  };
};

/** Marks the URL for the events of a leg: that is the last parameter, or the token is, which covers it. */
const marker = "outdial-leg=1";

const legUrl = /[?&]outdial-leg=1(&outdial=[^&]*)?$/;

/** The likeliest of the texts that somebody may have said. */
const firstOf = (results: unknown): unknown => (Array.isArray(results) ? results[0] : undefined);

/** The conversation that a call and the legs that it adds have in common, where a request names it. */
const conversationOf = ({ conversation_uuid }: Fields): string | undefined =>
  isText(conversation_uuid) ? conversation_uuid : undefined;

/**
 * A flow request: the answer webhook, the body of a `notify`, or an event of a leg at the URL of its own. At any other
 * URL an event asks for no action: Vonage's signature covers no URL, so it may be one that was sent elsewhere.
 */
const flowOf = (text: string, url: string, account_id: string): unknown => {
  const body = fieldsOf(JSON.parse(text));
  const fields = { ...body, ...fieldsOf(body.payload) };
  const { uuid, from, to, dtmf, speech, direction = "outbound" } = fields;
  const isEvent = body.status !== undefined;
  if (!isText(uuid) || (isEvent && !legUrl.test(url))) return;
  return {
    ...fields,
    // The leg has an id of its own.
    call_id: (isEvent && conversationOf(fields)) || uuid,
    account_id,
    from_number: numberOf(from) ?? "",
    to_number: numberOf(to) ?? "",
    direction,
    ...(speech !== undefined && { speech: firstOf(fieldsOf(speech).results) }),
    // An older form of the webhook has the keys themselves.
    ...(dtmf !== undefined && {
      digits: isText(dtmf) ? dtmf : String(fieldsOf(dtmf).digits ?? ""),
    }),
  };
};

/**
 * Where the events of a leg go that decide nothing. Without a URL of its own they would come to the
 * `status_callback_url`, and the end of that leg would look like the end of the call.
 */
const silentUrl = async (input: FlowInput): Promise<string | undefined> => {
  const { request, publicUrl, secret, pathIn } = input;
  if (secret) {
    try {
      // It decides nothing, so it need not end with the flow's own: events come late.
      const lasting = { ...input, expires: undefined };
      return await signOwnUrl(lasting, "secret", `${marker}&`, () => utf8("{}"));
    } catch {
      return; // Behind a proxy, without publicUrl: no URL that Vonage can reach.
    }
  }
  const path = pathIn(request.url, publicUrl);
  const { origin } = new URL(publicUrl ?? request.url);
  const url = `${origin}${path}${path.includes("?") ? "&" : "?"}${marker}`;
  return urlRule(url) ? undefined : url;
};

/** @throws {BadParametersException} that names a branch, without the option `secret` */
const legEventsOf = async (action: AnyAction, input: FlowInput): Promise<LegEvents | undefined> => {
  if (action.action !== "dial" && action.action !== "stream") return;
  const branch = action.action === "dial" ? firstBranch(action) : undefined;
  if (action.action === "dial" && branch) {
    const { call_id, from_number, to_number } = input.call;
    // The events are about another leg: what follows a branch must be about this one.
    const dialed = { ...branchesOf(action), call: { call_id, from_number, to_number } };
    const [service, account] = input.of;
    const of = [service, account, conversationOf(input.call)] as const;
    const url = await signDialed(dialed, input, branch, { marked: `${marker}&`, of });
    return { url, decides: true };
  }
  const url = await silentUrl(input);
  return url ? { url, decides: false } : undefined;
};

/** The decision for an event of a leg, out of the URL that it came to: `"none"` leaves the NCCO as it is. */
const followingLeg = ({
  call,
  request,
  publicUrl,
  pathIn,
  dialed,
}: FlowInput): { readonly action: AnyAction; readonly call: Subject } | "none" | undefined => {
  if (!legUrl.test(pathIn(request.url, publicUrl))) return;
  const branch: Branch | undefined = branches.get(call.status);
  const action = branch && dialed?.[branch];
  return action ? { action, call: dialed.call ?? call } : "none";
};

/** Milliseconds until a flow request is answered: Vonage waits 5 s, if its settings say nothing else. */
const flowTimeout = 4000;

const nobody: Subject = { call_id: "", from_number: "", to_number: "" };

/**
 * How Vonage's requests to the application are verified, read and answered.
 *
 * @param signatureSecret - without it nothing of Vonage's own is verified
 */
export const applicationSide = ({
  applicationId,
  signatureSecret,
}: {
  readonly applicationId: string;
  readonly signatureSecret?: SignatureSecret | undefined;
}): CarrierWebhooks => ({
  verify:
    signatureSecret === undefined
      ? undefined
      : async (request, body) => {
          const secrets = await currentSecrets("signatureSecret", signatureSecret);
          return verifySignature(secrets, request, body, applicationId);
        },
  decodeEvent: (text) => eventOf(text, applicationId),
  decodeFlow: (text, url) => flowOf(text, url, applicationId),
  respond: async (decide, input) => {
    const decided = input && followingLeg(input);
    if (decided === "none") return new Response(null, { status: 204 });
    const action = decided?.action ?? (await decide());
    const legs = input && (await legEventsOf(action, input));
    return Response.json(nccoOf(action, decided?.call ?? input?.call ?? nobody, legs));
  },
  flowTimeout,
});
