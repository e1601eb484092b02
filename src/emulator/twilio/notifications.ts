import type { Call, Message } from "../call.ts";
import type { CallState } from "../history.ts";
import { endingOf, fieldsOf, recordingSidOf, rfc2822, type TwilioCall } from "./call.ts";
import type { CallEventName, RecordingEventName, Target } from "./fields.ts";
import { isRepeated, signedRequest } from "./requests.ts";
import type { Fields } from "./signature.ts";

/** What notifications are made with. */
export interface NotificationParts {
  readonly accountSid: string;
  /** The auth token, which may be regenerated. */
  readonly token: () => string;
}

/** The names of the events that states of a call cause. */
const eventOf: Readonly<Record<CallState, CallEventName>> = {
  initiated: "initiated",
  ringing: "ringing",
  answered: "answered",
  completed: "completed",
  failed: "completed",
};

/** A notification to a target; a failed one is repeated as the fragment of its URL says. */
const messageTo = (
  { url, method }: Target,
  id: string,
  event: string,
  fields: Fields,
  { token }: NotificationParts,
): Message => {
  const sent = signedRequest(token(), url, method, fields);
  const idempotencyToken = crypto.randomUUID();
  return {
    id,
    event,
    url: sent.url,
    method,
    body: sent.body,
    headers: () => ({ ...sent.headers, "I-Twilio-Idempotency-Token": idempotencyToken }),
    retryDelay: (attempts, delivery) => (isRepeated(url, attempts, delivery) ? 0 : undefined),
  };
};

/** What the last event of a call tells beside its status. */
const endFields = (call: Call): Fields => {
  const { facts } = call;
  const seconds = facts.duration ?? 0;
  const { recording_url } = facts;
  return {
    CallDuration: String(seconds),
    Duration: String(Math.ceil(seconds / 60)),
    SipResponseCode: String(endingOf(facts).sip),
    ...(recording_url !== undefined && {
      RecordingUrl: recording_url,
      RecordingSid: recordingSidOf(call.id),
      RecordingDuration: String(seconds),
    }),
  };
};

const statusMessages = (known: TwilioCall, parts: NotificationParts): readonly Message[] => {
  const { call, fields } = known;
  const event = eventOf[call.state];
  const isOver = event === "completed";
  if (!fields.status?.events.has(event)) return [];
  // A call that is canceled in the queue has no event.
  if (isOver && call.facts.reason === "canceled" && !known.hasRung) return [];
  const sequence = known.eventCount++;
  const body: Fields = {
    ...fieldsOf(known, parts.accountSid),
    CallbackSource: "call-progress-events",
    SequenceNumber: String(sequence),
    Timestamp: rfc2822(call.timeline.now()),
    ...(isOver && endFields(call)),
  };
  return [messageTo(fields.status, `${call.id}-${sequence}`, event, body, parts)];
};

const recordingMessage = (
  { call, fields }: TwilioCall,
  event: RecordingEventName,
  parts: NotificationParts,
): readonly Message[] => {
  if (!fields.recording?.events.has(event)) return [];
  const { answered_at, duration = 0, recording_url = "" } = call.facts;
  const sid = recordingSidOf(call.id);
  const body: Fields = {
    AccountSid: parts.accountSid,
    CallSid: call.id,
    ErrorCode: "0",
    RecordingChannels: "1",
    RecordingSid: sid,
    RecordingSource: "OutboundAPI",
    ...(answered_at !== undefined && { RecordingStartTime: rfc2822(answered_at) }),
    RecordingStatus: event,
    RecordingTrack: "both",
    ...(event === "completed" && {
      RecordingDuration: String(duration),
      RecordingUrl: recording_url,
    }),
  };
  return [messageTo(fields.recording, `${sid}-${event}`, `recording ${event}`, body, parts)];
};

const recordingMessages = (known: TwilioCall, parts: NotificationParts): readonly Message[] => {
  const { call, fields } = known;
  if (!fields.record) return [];
  if (call.state === "answered") return recordingMessage(known, "in-progress", parts);
  if (call.state === "failed") return recordingMessage(known, "absent", parts);
  return call.state === "completed" ? recordingMessage(known, "completed", parts) : [];
};

/** The notifications that are due when the state of a call has changed. */
export const messagesOf = (known: TwilioCall, parts: NotificationParts): readonly Message[] => {
  if (known.call.state === "ringing") known.hasRung = true;
  return [...statusMessages(known, parts), ...recordingMessages(known, parts)];
};

/** The notification of what answered, while the flow runs already. */
export const detectionMessage = (
  { call, answeredBy = "unknown" }: TwilioCall,
  target: Target,
  duration: number,
  parts: NotificationParts,
): Message => {
  const body: Fields = {
    AccountSid: parts.accountSid,
    AnsweredBy: answeredBy,
    CallSid: call.id,
    MachineDetectionDuration: String(duration),
  };
  return messageTo(target, `${call.id}-amd`, "machine detection", body, parts);
};

/** A stream, as its notifications describe it. */
export interface StreamFacts {
  readonly streamSid: string;
  readonly name: string | undefined;
}

/** The notification that a stream has started, was stopped, or failed. */
export const streamMessage = (
  { call }: TwilioCall,
  target: Target,
  { streamSid, name }: StreamFacts,
  event: "stream-started" | "stream-stopped" | "stream-error",
  error: string | undefined,
  parts: NotificationParts,
): Message => {
  const body: Fields = {
    AccountSid: parts.accountSid,
    CallSid: call.id,
    StreamEvent: event,
    StreamSid: streamSid,
    ...(name !== undefined && { StreamName: name }),
    ...(error !== undefined && { StreamError: error }),
    Timestamp: new Date(call.timeline.now()).toISOString(),
  };
  return messageTo(target, `${streamSid}-${event}`, event, body, parts);
};
