import type { Delivery } from "../../../server/call.ts";
import { iso, type Reason } from "../../../server/history.ts";
import { type NewId, uuidOf } from "../../../server/ids.ts";
import { type Failures, type MarkupCall, secondsOf, statusOf } from "../../xml/server/call.ts";
import {
  conferenceAttributes,
  dialAttributes,
  recordingCallback,
  type VerbCarrier,
} from "../../xml/server/context.ts";
import type { MarkupCarrier } from "../../xml/server/flow.ts";
import { autoSilence } from "../../xml/server/gather.ts";
import {
  type MediaForm,
  mulawCodec,
  type StreamPlan,
  sampleRate,
  sidesOfTrack,
} from "../../xml/server/media.ts";
import type { Fields } from "../../xml/server/requests.ts";
import type { BodySigner } from "./signature.ts";

/** How a call that nobody answered ends. */
export const failures: Failures = {
  busy: "busy",
  no_answer: "no-answer",
  rejected: "failed",
  unreachable: "failed",
  canceled: "canceled",
  // No word of Telnyx' says so: of all, this one is never repeated by itself.
  lost: "canceled",
};

/** Why a call ended, in the words of Telnyx and of SIP. */
const causes: Readonly<Record<Reason, readonly [cause: string, sip: string]>> = {
  normal: ["normal_clearing", "200"],
  flow_error: ["normal_clearing", "200"],
  max_duration: ["time_limit", "200"],
  busy: ["user_busy", "486"],
  no_answer: ["timeout", "487"],
  rejected: ["call_rejected", "603"],
  unreachable: ["not_found", "404"],
  canceled: ["originator_cancel", "487"],
  lost: ["normal_unspecified", "500"],
};

/** The most characters of a URL: error 10003. */
export const maxUrl = 2_000;

/** The UUID with the digits of a call's id. */
const uuidOfCall = (callSid: string): string => uuidOf(callSid.replace(/^v3:/, ""));

/** The SID of a call's recording. */
export const recordingSidOf: (callSid: string) => string = uuidOfCall;

/** The id that the legs of a call have in common. */
const sessionIdOf: (callSid: string) => string = uuidOfCall;

const attributes: VerbCarrier["attributes"] = {
  Say: ["loop"],
  Play: ["loop", "digits", "mediaStorage"],
  Pause: ["length"],
  Gather: [
    "input",
    "speechTimeout",
    // What is said is known: neither changes it.
    "language",
    "hints",
    "numDigits",
    "minDigits",
    "maxDigits",
    "validDigits",
    "invalidDigitsAction",
    "timeout",
    "finishOnKey",
    "action",
  ],
  Record: [
    "action",
    "method",
    "timeout",
    "finishOnKey",
    "maxLength",
    "playBeep",
    "trim",
    "channels",
    ...recordingCallback,
  ],
  Dial: dialAttributes,
  Number: [],
  Sip: [],
  Conference: conferenceAttributes,
  Connect: [],
  Start: [],
  Stop: [],
  Stream: [
    "url",
    "name",
    "track",
    "codec",
    "bidirectionalMode",
    "bidirectionalCodec",
    "bidirectionalSamplingRate",
    "statusCallback",
    "statusCallbackMethod",
    // A closed socket is never opened again, as with "false".
    "enableReconnect",
  ],
  Parameter: ["name", "value"],
  Redirect: ["method"],
  Hangup: [],
  Reject: ["reason"],
  Response: [],
};

/** Milliseconds until a notification is sent again; the schedule is not documented. */
const retryDelays = [1_000, 2_000];

/** Whether a notification failed in a way after which it is sent again. */
const isRetried = ({ status }: Pick<Delivery, "status">): boolean =>
  status === undefined || status === 408 || status === 429 || status >= 500;

/** The fields by which every request names its call. */
const subjectOf = ({ served, accountSid }: MarkupCall): Fields => ({
  AccountSid: accountSid,
  CallSid: served.id,
  CallSidLegacy: served.id,
});

const detected = ({ answeredBy }: MarkupCall): Fields =>
  answeredBy === undefined ? {} : { AnsweredBy: answeredBy };

/** What the last event of a call has beside its status. */
const endFields = ({ served, endedBy }: MarkupCall): Fields => {
  const { answered_at, ended_at = 0, initiated_at, recording_url } = served.facts;
  const { duration = 0, reason = "normal" } = served.facts;
  const [cause, sip] = causes[reason];
  const isByCaller = reason === "no_answer" || reason === "canceled" || reason === "max_duration";
  return {
    CallControlId: served.id,
    CallSessionId: sessionIdOf(served.id),
    CallDuration: String(duration),
    StartTime: iso(initiated_at),
    ...(answered_at !== undefined && { AnsweredTime: iso(answered_at) }),
    EndTime: iso(ended_at),
    HangupCause: cause,
    HangupSource: isByCaller ? "caller" : endedBy,
    SipHangupCause: sip,
    ...(recording_url !== undefined && {
      RecordingUrl: recording_url,
      RecordingSid: recordingSidOf(served.id),
      RecordingDuration: String(duration),
    }),
  };
};

/** Reads the attributes of a `Stream`: audio is PCMU, and what is played comes by RTP payloads. */
const planStream: MarkupCarrier["planStream"] = (attributes) => {
  const { track = "inbound_track", codec = "default", bidirectionalMode = "mp3" } = attributes;
  const { bidirectionalCodec = "PCMU", bidirectionalSamplingRate = "8000" } = attributes;
  const sides = sidesOfTrack.get(track);
  if (!sides) return { attribute: "track", rule: `is ${track}` };
  if (codec !== "default" && codec !== "PCMU") {
    return { attribute: "codec", rule: `is ${codec}: only PCMU is emulated` };
  }
  const plan: StreamPlan = { sides, isBidirectional: true };
  if (bidirectionalMode !== "rtp") {
    const unplayable = 'media is MP3 without bidirectionalMode="rtp", which is not emulated';
    return { ...plan, unplayable };
  }
  if (bidirectionalCodec !== "PCMU" || bidirectionalSamplingRate !== "8000") {
    const rule = `is ${bidirectionalCodec} at ${bidirectionalSamplingRate} Hz: only PCMU at 8000 Hz is emulated`;
    return { attribute: "bidirectionalCodec", rule };
  }
  return plan;
};

/** The codes of Telnyx's errors on a socket. */
const invalidMedia = { code: 100_004, title: "invalid_media" };
const malformedFrame = { code: 100_003, title: "malformed_frame" };

/** The messages of Telnyx's media streaming. */
const mediaStreamingCodec: MarkupCarrier["openStream"] = ({ served, accountSid }, stream) => {
  const { streamSid: stream_id, parameters } = stream;
  const { from_number: from, to_number: to } = served.params;
  const subject = { user_id: accountSid, call_control_id: served.id };
  const form: MediaForm = {
    connected: { event: "connected", version: "1.0.0" },
    start: {
      start: {
        ...subject,
        call_session_id: sessionIdOf(served.id),
        from,
        to,
        tags: [],
        custom_parameters: parameters,
        media_format: { encoding: "PCMU", sample_rate: sampleRate, channels: 1 },
      },
    },
    stop: { stop: subject },
    dtmf: (digit) => ({
      occurred_at: new Date(served.timeline.now()).toISOString(),
      dtmf: { digit },
    }),
    message: (event, sequence_number, fields) => ({ event, sequence_number, ...fields, stream_id }),
    error: (detail) => ({
      event: "error",
      payload: { ...(detail.startsWith("media") ? invalidMedia : malformedFrame), detail },
      stream_id,
    }),
  };
  return mulawCodec(form, stream);
};

/** Telnyx's markup, requests and media. */
export const telnyxCarrier = (
  applicationId: string,
  { sign }: BodySigner,
  newId: NewId,
): MarkupCarrier => {
  const callFields = (call: MarkupCall): Fields => {
    const { from_number: From, to_number: To } = call.served.params;
    return {
      ...subjectOf(call),
      CallStatus: statusOf(call.served.facts, failures),
      ConnectionId: applicationId,
      CallerId: From,
      From,
      To,
      ...detected(call),
    };
  };
  return {
    markup: "TeXML",
    sign: ({ body }) => sign(body),
    alsoSigns: new Set(),
    keepsCookies: false,
    maxRedirects: 3,
    repeatsRequest: () => false,
    retryDelay: (_, attempts, delivery) =>
      isRetried(delivery) ? retryDelays[attempts - 1] : undefined,
    notificationHeaders: () => ({ "User-Agent": "telnyx-webhooks" }),
    reportsUnrung: true,
    statusFields: (call, event, sequence) => ({
      ...callFields(call),
      CallbackSource: "call-progress-events",
      CallInitiatedAt: iso(call.served.facts.initiated_at),
      SequenceNumber: String(sequence),
      Timestamp: iso(call.served.timeline.now()),
      ...(event === "completed" && endFields(call)),
    }),
    recordingSid: recordingSidOf,
    recordingFields: (call, recording, event) => ({
      ...subjectOf(call),
      ConnectionId: applicationId,
      RecordingChannels: String(recording.channels),
      RecordingSid: recording.sid,
      RecordingSource: recording.source,
      RecordingStatus: event,
      ...(event === "completed" && {
        RecordingDuration: String(secondsOf(recording)),
        RecordingUrl: call.recordingUrl(recording.sid),
      }),
    }),
    detectionFields: (call, duration) => ({
      ...subjectOf(call),
      ConnectionId: applicationId,
      ...detected(call),
      MachineDetectionDuration: String(duration),
    }),
    streamFields: (call, { streamSid, name, event, error }) => ({
      ...subjectOf(call),
      StreamEvent: `stream-${event}`,
      StreamSid: streamSid,
      ...(name !== undefined && { StreamName: name }),
      ...(error !== undefined && { StreamError: error }),
      Timestamp: iso(call.served.timeline.now()),
    }),
    attributes,
    maxUrl,
    codes: { media: 90_040, socket: 90_046, "socket url": 10_003, url: 10_003 },
    documentCodes: {},
    newSid: (of, time) => (of === "call" ? `v3:${newId(time)}` : uuidOf(newId(time))),
    timestamp: iso,
    failures,
    requestsOwnUrl: false,
    recordDefaults: {
      timeout: 0,
      countsFirstSilence: false,
      trim: "do-not-trim",
      channels: 2,
      skipsEmpty: false,
    },
    // Not documented, so assumed.
    silenceAfterSpeech: () => autoSilence,
    gatherFields: (Digits) => ({ Digits }),
    dialFields: (DialCallSid, DialCallStatus, seconds) => ({
      DialCallSid,
      DialCallSidLegacy: DialCallSid,
      DialCallStatus,
      ...(seconds !== undefined && { DialCallDuration: String(seconds) }),
    }),
    dropsQuery: false,
    planStream,
    openStream: mediaStreamingCodec,
    readingOf: () => "markup",
    unreadable: (text) =>
      text.includes("{{") ? "has a Mustache template, which is not emulated" : undefined,
    callFields,
    fallbackFields: () => ({}),
    detected: (answerer, detection) => {
      if (answerer === "person") return "human";
      if (answerer === "unknown") return "not_sure";
      if (detection === "Enable") return "machine";
      return answerer.beeps ? "machine_end_beep" : "machine_end_silence";
    },
    notifiesOfDetection: true,
  };
};
