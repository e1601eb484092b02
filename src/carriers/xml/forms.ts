import type { CallEvent, EventData, FailedEvent } from "../../callbacks/event.ts";
import { isText } from "../../lib/check.ts";

/** The fields of a form. */
type Form = Readonly<Record<string, string>>;

/**
 * The fields of a form of the carrier's, whose names all begin with a capital. A form that has a field
 * twice is refused: Twilio's signature does not cover the order of its values.
 */
const formOf = (text: string): Form | undefined => {
  const given = [...new URLSearchParams(text)].filter(([name]) => /^[A-Z]/.test(name));
  const fields = Object.fromEntries(given);
  return fields.AccountSid && Object.keys(fields).length === given.length ? fields : undefined;
};

/** ISO 8601 in UTC of a time in RFC 2822 or ISO 8601. */
const isoOf = (time = ""): string | undefined => {
  const at = Date.parse(time);
  return at ? new Date(at).toISOString() : undefined;
};

/** Whole seconds in a field. */
const secondsOf = (text: string | undefined): number | undefined =>
  text && /^\d+$/.test(text) ? Number(text) : undefined;

/** What a `CallStatus` means. */
interface Status {
  readonly type: CallEvent["type"];
  readonly reason?: FailedEvent["data"]["reason"];
  /** The field of the event's data that has its `Timestamp`. */
  readonly time?: keyof Pick<EventData, "start_time" | "answer_time" | "hangup_time">;
}

const failed = (reason: Status["reason"]): Status => ({
  type: "call.failed",
  reason,
  time: "hangup_time",
});

/**
 * The event of each `CallStatus`, of Twilio's and of Telnyx's, which took over the words. `queued` is in no
 * notification.
 *
 * @see https://www.twilio.com/docs/voice/api/call-resource#call-status-values and
 * https://developers.telnyx.com/api-reference/callbacks/texml-call-completed
 */
export const statuses: ReadonlyMap<unknown, Status> = new Map([
  ["initiated", { type: "call.initiated", time: "start_time" }],
  ["ringing", { type: "call.ringing" }],
  ["in-progress", { type: "call.answered", time: "answer_time" }],
  ["completed", { type: "call.completed", time: "hangup_time" }],
  ["busy", failed("busy")],
  ["no-answer", failed("no_answer")],
  ["canceled", failed("canceled")],
  ["failed", failed("unreachable")],
]);

/** Whether the call of a form has ended. */
export const isOver = ({ CallStatus }: Readonly<Record<string, unknown>>): boolean =>
  statuses.get(CallStatus)?.time === "hangup_time";

/** The type of a notification that is not about the state of a call. */
const otherType = ({ CallStatus, RecordingStatus, AnsweredBy }: Form) => {
  if (RecordingStatus) return `recording.${RecordingStatus}`;
  if (CallStatus) return `call.${CallStatus}`;
  return AnsweredBy ? "call.machine_detected" : "unknown";
};

/** How the forms of one carrier differ from those of the others. */
export interface Forms {
  /** The reason of an end, where the form says more than its `CallStatus`. */
  readonly reasonIn: (form: Form) => EventData["reason"];
  /** The direction of a call whose flow request has none. */
  readonly direction?: string;
  /** Whether a form at a flow URL is a notification that was sent elsewhere, where the signature covers no URL. */
  readonly isElsewhere?: (form: Form) => boolean;
}

/** Who answered, where a carrier has another word than `EventData`. */
const answeredBy: ReadonlyMap<unknown, EventData["answered_by"]> = new Map([
  ["machine", "machine_start"],
  ["not_sure", "unknown"],
]);

/** Who answered, in the words of `EventData`; `undefined` where nobody was detected. */
export const whoAnswered = (word: unknown): EventData["answered_by"] =>
  answeredBy.get(word) ?? (isText(word) && word ? word : undefined);

/** A notification of TwiML's form in the form that the schema `CallEvent` takes; `undefined` if it is none. */
export const eventOf = (text: string, { reasonIn }: Forms): unknown => {
  const fields = formOf(text);
  if (!fields) return;
  const { CallSid, CallStatus = "", RecordingSid, RecordingStatus, SequenceNumber } = fields;
  const { CallDuration } = fields;
  const RecordingDuration = RecordingStatus && fields.RecordingDuration;
  const status = RecordingStatus ? undefined : statuses.get(CallStatus);
  const type = status?.type ?? otherType(fields);
  const subject = RecordingStatus ? RecordingSid : CallSid;
  const occurred_at = isoOf(fields.Timestamp);
  const answered_by = whoAnswered(fields.AnsweredBy);
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
      reason: status && (reasonIn(fields) ?? status.reason),
      duration: secondsOf(status?.type === "call.completed" ? CallDuration : RecordingDuration),
      ...(RecordingStatus && { recording_id: RecordingSid }),
      recording_url: fields.RecordingUrl,
      answered_by,
      beep: (!status && answered_by?.startsWith("machine_end")) || undefined,
      ...(status?.time && { [status.time]: occurred_at }),
    },
  };
};

/** What came of a `Dial`, by its `DialCallStatus`: a conference has `answered`. */
const dialedIn = ({ DialCallStatus, DialCallDuration }: Form) => {
  if (DialCallStatus === undefined) return;
  if (DialCallStatus === "completed" || DialCallStatus === "answered") {
    return { state: "completed", reason: "normal", duration: secondsOf(DialCallDuration) };
  }
  const { type, reason } = statuses.get(DialCallStatus) ?? {};
  return type === "call.failed" ? { state: "failed", reason } : undefined;
};

/** A flow request of TwiML's form in the form that the schema `FlowRequest` takes; `undefined` if it is none. */
export const flowOf = (text: string, { direction = "", isElsewhere }: Forms): unknown => {
  const fields = formOf(text);
  if (!fields || isElsewhere?.(fields)) return;
  const { CallSid, AccountSid, From, To, Digits, Direction = direction } = fields;
  const { SpeechResult: said, Confidence: confidence } = fields;
  const answered_by = whoAnswered(fields.AnsweredBy);
  const dialed = dialedIn(fields);
  return {
    ...fields,
    call_id: CallSid,
    account_id: AccountSid,
    from_number: From,
    to_number: To,
    direction: Direction.replace(/^outbound.*/, "outbound"),
    ...(Digits !== undefined && { digits: Digits }),
    ...(said && { speech: { text: said, confidence } }),
    ...(answered_by && { answered_by }),
    ...(dialed && { dialed }),
  };
};
