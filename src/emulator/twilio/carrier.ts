import type { Reason } from "../history.ts";
import type { NewId } from "../ids.ts";
import { type Failures, type MarkupCall, rfc2822, statusOf } from "../markup/call.ts";
import type { FormRules } from "../markup/fields.ts";
import type { MarkupCarrier } from "../markup/flow.ts";
import type { VerbCarrier } from "../markup/line.ts";
import { sidesOfTrack } from "../markup/media.ts";
import type { Fields } from "../markup/requests.ts";
import { mediaStreamsCodec } from "./media-streams.ts";
import { TwilioError } from "./problems.ts";
import { isRepeated } from "./retries.ts";
import { signatureOf } from "./signature.ts";

/** How a call that nobody answered ends; rejected and unanswered ones have the same status. */
export const failures: Failures = {
  busy: "busy",
  no_answer: "no-answer",
  rejected: "no-answer",
  unreachable: "failed",
  canceled: "canceled",
};

/** The SIP response that ended a call. */
const sipResponses: Readonly<Partial<Record<Reason, number>>> = {
  busy: 486,
  no_answer: 487,
  rejected: 603,
  unreachable: 404,
  canceled: 487,
};

/** The SID of a call's recording. */
export const recordingSidOf = (callSid: string): string => `RE${callSid.slice(2)}`;

const attributes: VerbCarrier["attributes"] = {
  Say: ["loop"],
  Play: ["loop", "digits"],
  Pause: ["length"],
  Gather: [
    "input",
    "numDigits",
    "timeout",
    "finishOnKey",
    "action",
    "method",
    "actionOnEmptyResult",
  ],
  Dial: ["action", "method", "timeout", "timeLimit", "record"],
  Number: [],
  Sip: [],
  Connect: ["action", "method"],
  Start: [],
  Stop: [],
  Stream: ["url", "name", "track", "statusCallback", "statusCallbackMethod"],
  Parameter: ["name", "value"],
  Redirect: ["method"],
  Hangup: [],
  Reject: ["reason"],
  Response: [],
};

const planStream: MarkupCarrier["planStream"] = ({ track = "inbound_track" }, verb) => {
  const isBidirectional = verb === "Connect";
  const sides = sidesOfTrack.get(track);
  if (sides && (track === "inbound_track" || !isBidirectional)) return { sides, isBidirectional };
  return { attribute: "track", rule: `is ${track}`, trouble: "track" };
};

const isXml = (type: string): boolean => /^(text|application)\/(xml|html)\b|\+xml\b/i.test(type);

const readingOf: MarkupCarrier["readingOf"] = (type) => {
  if (/^audio\//i.test(type)) return "audio";
  if (isXml(type)) return "markup";
  return /^text\/plain\b/i.test(type) ? "speech" : undefined;
};

/** The fields of every request about a call. */
const callFields = ({ call, accountSid, answeredBy }: MarkupCall): Fields => {
  const { from_number, to_number } = call.params;
  return {
    AccountSid: accountSid,
    ApiVersion: "2010-04-01",
    CallSid: call.id,
    CallStatus: statusOf(call.facts, failures),
    Called: to_number,
    Caller: from_number,
    Direction: "outbound-api",
    From: from_number,
    To: to_number,
    ...(answeredBy !== undefined && { AnsweredBy: answeredBy }),
  };
};

/** What the last event of a call has beside its status. */
const endFields = ({ call }: MarkupCall): Fields => {
  const { duration = 0, reason = "normal", recording_url } = call.facts;
  const seconds = String(duration);
  return {
    CallDuration: seconds,
    Duration: String(Math.ceil(duration / 60)),
    SipResponseCode: String(sipResponses[reason] ?? 200),
    ...(recording_url !== undefined && {
      RecordingUrl: recording_url,
      RecordingSid: recordingSidOf(call.id),
      RecordingDuration: seconds,
    }),
  };
};

const statusFields: MarkupCarrier["statusFields"] = (known, event, sequence) => ({
  ...callFields(known),
  CallbackSource: "call-progress-events",
  SequenceNumber: String(sequence),
  Timestamp: rfc2822(known.call.timeline.now()),
  ...(event === "completed" && endFields(known)),
});

const recordingFields: MarkupCarrier["recordingFields"] = ({ call, accountSid }, event) => {
  const { answered_at, duration = 0, recording_url = "" } = call.facts;
  return {
    AccountSid: accountSid,
    CallSid: call.id,
    ErrorCode: "0",
    RecordingChannels: "1",
    RecordingSid: recordingSidOf(call.id),
    RecordingSource: "OutboundAPI",
    ...(answered_at !== undefined && { RecordingStartTime: rfc2822(answered_at) }),
    RecordingStatus: event,
    RecordingTrack: "both",
    ...(event === "completed" && {
      RecordingDuration: String(duration),
      RecordingUrl: recording_url,
    }),
  };
};

const streamEvents = {
  started: "stream-started",
  stopped: "stream-stopped",
  failed: "stream-error",
} as const;

/** Twilio's markup and requests. */
export const twilioCarrier = (token: () => string, newId: NewId): MarkupCarrier => ({
  markup: "TwiML",
  sign: ({ url, fields }) => ({ "X-Twilio-Signature": signatureOf(token(), url, fields) }),
  alsoSigns: new Set(["media", "socket"] as const),
  maxRedirects: 10,
  repeatsRequest: isRepeated,
  retryDelay: (url, attempts, delivery) => (isRepeated(url, attempts, delivery) ? 0 : undefined),
  notificationHeaders: () => ({ "I-Twilio-Idempotency-Token": crypto.randomUUID() }),
  reportsUnrung: false,
  statusFields,
  recordingSid: recordingSidOf,
  recordingFields,
  detectionFields: ({ call, accountSid, answeredBy = "unknown" }, duration) => ({
    AccountSid: accountSid,
    AnsweredBy: answeredBy,
    CallSid: call.id,
    MachineDetectionDuration: String(duration),
  }),
  streamFields: ({ call, accountSid }, { streamSid, name, event, error }) => ({
    AccountSid: accountSid,
    CallSid: call.id,
    StreamEvent: streamEvents[event],
    StreamSid: streamSid,
    ...(name !== undefined && { StreamName: name }),
    ...(error !== undefined && { StreamError: error }),
    Timestamp: new Date(call.timeline.now()).toISOString(),
  }),
  attributes,
  codes: {
    url: 11_100,
    media: 11_200,
    nobody: 13_223,
    track: 31_932,
    "socket url": 31_922,
    socket: 31_920,
  },
  documentCodes: { request: 11_200, length: 11_750, type: 12_300, syntax: 12_100 },
  newSid: (of, time) => `${of === "call" ? "CA" : "MZ"}${newId(time)}`,
  failures,
  gathersAtOwnUrl: true,
  gatherFields: (Digits, FinishedOnKey) => ({ Digits, FinishedOnKey, msg: "Gather End" }),
  dialFields: (DialCallSid, DialCallStatus, seconds) => ({
    DialBridged: String(seconds !== undefined),
    DialCallSid,
    DialCallStatus,
    ...(seconds !== undefined && { DialCallDuration: String(seconds) }),
  }),
  dropsQuery: true,
  planStream,
  openStream: mediaStreamsCodec,
  readingOf,
  callFields,
  fallbackFields: (code, ErrorUrl) => ({ ErrorCode: String(code), ErrorUrl }),
  detected: (isMachine, detection) => {
    if (!isMachine) return "human";
    return detection === "Enable" ? "machine_start" : "machine_end_beep";
  },
  notifiesOfDetection: false,
});

/** The codes of fields that are missing, or no number. */
const numberCodes: Readonly<Record<string, readonly [missing: number, invalid: number]>> = {
  To: [21_201, 21_211],
  From: [21_213, 21_212],
};

/** What Twilio's form has of its own. */
export const twilioForm: FormRules = {
  document: "Twiml",
  methods: { Url: ["Method"], FallbackUrl: ["FallbackMethod"] },
  timeout: [1, 600],
  timeLimit: [1, 86_400],
  refuse: ({ field, kind, value, rule }) => {
    const [missing, invalid] = numberCodes[field] ?? [21_205, 21_205];
    const refuse = (code: number, message: string): never => {
      throw new TwilioError(400, code, message);
    };
    switch (kind) {
      case "missing":
        if (field === "Url") return refuse(missing, "Url parameter is required.");
        return refuse(missing, `No '${field}' number is specified`);
      case "number":
        return refuse(invalid, `The '${field}' number ${value} is not a valid phone number.`);
      case "url":
        return refuse(field.endsWith("Callback") ? 21_609 : 21_205, `${field} ${rule}: ${value}`);
      case "method":
        return refuse(21_209, `${field} ${rule}`);
      case "seconds":
        return refuse(21_208, `${field} ${rule}`);
    }
  },
};
