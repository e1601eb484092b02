import type { EventData } from "../../callbacks/event.ts";
import type { Secret } from "../../callbacks/signed-url.ts";
import { signOwnUrl } from "../../flows/continuation.ts";
import { dialedIn, followingDial } from "../../flows/dialed.ts";
import type { CarrierWebhooks, Decision, FlowInput } from "../../flows/webhooks.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import { utf8 } from "../../lib/encoding.ts";
import { currentSecrets } from "../../lib/hmac.ts";
import { urlRule } from "../../lib/url.ts";
import type { Voices } from "../voices.ts";
import { type LegEvents, nccoOf, type Subject, type VonageVoice } from "./ncco.ts";
import { verifySignature } from "./signature.ts";
import { answeredBy, numberOf, replacing, type Status, statuses } from "./wire.ts";

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

/** What an event says of a recording. */
const recordingOf = ({ recording_uuid, start_time, end_time }: Fields) => {
  const [from, to] = [start_time, end_time].map((time) => Date.parse(String(time)));
  const duration = Math.round((Number(to) - Number(from)) / 1000);
  return { recording_id: recording_uuid, ...(duration >= 0 && { duration }) };
};

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
      ...(type === "recording.completed" && recordingOf(fields)),
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
  const { status } = body;
  const isEvent = status !== undefined;
  const failed = replacing.has(status) ? statuses.get(status) : undefined;
  if (!isText(uuid) || (isEvent && !legUrl.test(url))) return;
  return {
    ...fields,
    // The leg has an id of its own.
    call_id: (isEvent && conversationOf(fields)) || uuid,
    account_id,
    from_number: numberOf(from) ?? "",
    to_number: numberOf(to) ?? "",
    direction,
    // Vonage has no such field: nobody else says what came of a leg.
    dialed: failed && { state: "failed", reason: reasonOf(failed, fields) },
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

/** @throws {BadParametersException} that names a field, without the option `secret` */
const legEventsOf = async (
  { action: { action }, signOwn }: Decision,
  input: FlowInput,
): Promise<LegEvents | undefined> => {
  const [service, account] = input.of;
  // The event of a recording names no call, and those of a leg another one.
  const of = [service, account, conversationOf(input.call)] as const;
  if (action === "record") {
    const url = await signOwn?.({ of });
    return url === undefined ? undefined : { url, decides: false };
  }
  if (action !== "dial" && action !== "stream") return;
  if (signOwn) {
    const { call_id, from_number, to_number } = input.call;
    const url = await signOwn({
      marked: `${marker}&`,
      of,
      // What follows is about this leg.
      call: { call_id, from_number, to_number },
    });
    return { url, decides: true };
  }
  const url = await silentUrl(input);
  return url ? { url, decides: false } : undefined;
};

/** Whether a request is an event of a leg after which the NCCO stays as it is. */
const decidesNothing = ({ call, request, publicUrl, pathIn, after = {} }: FlowInput): boolean => {
  if (!legUrl.test(pathIn(request.url, publicUrl))) return false;
  const dialed = dialedIn(call.dialed);
  return !(dialed && followingDial(after, dialed));
};

/** A decision whose `next` comes after a conversation, too: Vonage goes on with what follows the `connect` then. */
const withNext = async ({ action, signOwn }: Decision): Promise<Decision["action"]> =>
  action.action === "dial" && action.next && signOwn
    ? { ...action, flow_url: await signOwn({ dialed: { state: "completed", reason: "normal" } }) }
    : action;

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
  voices,
}: {
  readonly applicationId: string;
  readonly signatureSecret?: SignatureSecret | undefined;
  /** By language. */
  readonly voices?: Voices<VonageVoice> | undefined;
}): CarrierWebhooks => ({
  verify:
    signatureSecret === undefined
      ? undefined
      : async (request, body) => {
          const secrets = await currentSecrets("signatureSecret", signatureSecret);
          return verifySignature(secrets, request, body, applicationId);
        },
  decodeEvent: (text) => eventOf(text, applicationId),
  recordedIn: ({ data }) => conversationOf(fieldsOf(data)),
  decodeFlow: (text, url) => flowOf(text, url, applicationId),
  respond: async (decide, input) => {
    if (input && decidesNothing(input)) return new Response(null, { status: 204 });
    const decision = await decide();
    const legs = input && (await legEventsOf(decision, input));
    return Response.json(nccoOf(await withNext(decision), input?.call ?? nobody, legs, voices));
  },
  flowTimeout,
});
