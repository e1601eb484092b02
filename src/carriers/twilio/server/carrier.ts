import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { base64, utf8 } from "../../../lib/encoding.ts";
import type { Delivery } from "../../../server/call.ts";
import type { Reason } from "../../../server/history.ts";
import type { NewId } from "../../../server/ids.ts";
import {
  type Failures,
  type MarkupCall,
  rfc2822,
  secondsOf,
  statusOf,
} from "../../xml/server/call.ts";
import {
  conferenceAttributes,
  dialAttributes,
  recordingCallback,
  type VerbCarrier,
} from "../../xml/server/context.ts";
import type { MarkupCarrier } from "../../xml/server/flow.ts";
import {
  type MediaForm,
  mulawCodec,
  sampleRate,
  sidesOfTrack,
  tracks,
} from "../../xml/server/media.ts";
import type { Fields } from "../../xml/server/requests.ts";

/** The URL that is signed: without its fragment, and with https without its port too. */
const signedUrl = (url: string): string => {
  const signed = new URL(url);
  signed.hash = "";
  if (signed.protocol === "https:") signed.port = "";
  return signed.href;
};

/**
 * The signature of a request, as Twilio makes it: HMAC-SHA1 of the URL, and of each name and value of a form, by name.
 *
 * @param token - the account's auth token
 * @param fields - the form in the body; empty for a GET and for a handshake
 */
export const signatureOf = (token: string, url: string, fields: Fields): string => {
  const names = Object.keys(fields).sort();
  const form = names.map((name) => name + (fields[name] ?? "")).join("");
  return base64(hmac(sha1, utf8(token), utf8(signedUrl(url) + form)));
};

/** How a call that nobody answered ends; rejected and unanswered ones have the same status. */
export const failures: Failures = {
  busy: "busy",
  no_answer: "no-answer",
  rejected: "no-answer",
  unreachable: "failed",
  canceled: "canceled",
  // No word of Twilio's says so: of all, this one is never repeated by itself.
  lost: "canceled",
};

/** The SIP response that ended a call. */
const sipResponses: Readonly<Partial<Record<Reason, number>>> = {
  busy: 486,
  no_answer: 487,
  rejected: 603,
  unreachable: 404,
  canceled: 487,
};

/** How SIDs begin. */
const prefixes = { call: "CA", stream: "MZ", recording: "RE", conference: "CF" } as const;

/** The most characters of a URL: Twilio's error 21609 has it of messages, and none of calls is documented. */
export const maxUrl = 4_000;

/** The most characters of a `Say`, URL-encoded: error 13521. */
const maxSpoken = 4_500;

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
    "speechTimeout",
    "maxSpeechTime",
    // What is said is known: neither changes it.
    "language",
    "hints",
    "bargeIn",
    "finishOnKey",
    "action",
    "method",
    "actionOnEmptyResult",
  ],
  Record: [
    "action",
    "method",
    "timeout",
    "finishOnKey",
    "maxLength",
    "playBeep",
    "trim",
    ...recordingCallback,
  ],
  Dial: dialAttributes,
  Number: [],
  Sip: [],
  Client: [],
  Identity: [],
  Conference: conferenceAttributes,
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
const callFields = ({ served, accountSid, answeredBy }: MarkupCall): Fields => {
  const { from_number, to_number } = served.params;
  return {
    AccountSid: accountSid,
    ApiVersion: "2010-04-01",
    CallSid: served.id,
    CallStatus: statusOf(served.facts, failures),
    Called: to_number,
    Caller: from_number,
    Direction: "outbound-api",
    From: from_number,
    To: to_number,
    ...(answeredBy !== undefined && { AnsweredBy: answeredBy }),
  };
};

/** What the last event of a call has beside its status. */
const endFields = ({ served }: MarkupCall): Fields => {
  const { duration = 0, reason = "normal", recording_url } = served.facts;
  const seconds = String(duration);
  return {
    CallDuration: seconds,
    Duration: String(Math.ceil(duration / 60)),
    SipResponseCode: String(sipResponses[reason] ?? 200),
    ...(recording_url !== undefined && {
      RecordingUrl: recording_url,
      RecordingSid: recordingSidOf(served.id),
      RecordingDuration: seconds,
    }),
  };
};

const statusFields: MarkupCarrier["statusFields"] = (call, event, sequence) => ({
  ...callFields(call),
  CallbackSource: "call-progress-events",
  SequenceNumber: String(sequence),
  Timestamp: rfc2822(call.served.timeline.now()),
  ...(event === "completed" && endFields(call)),
});

const recordingFields: MarkupCarrier["recordingFields"] = (call, recording, event) => {
  const { served, accountSid, recordingUrl } = call;
  const { sid, source, channels, track, from } = recording;
  const { answered_at } = served.facts;
  return {
    AccountSid: accountSid,
    CallSid: served.id,
    ErrorCode: "0",
    RecordingChannels: String(channels),
    RecordingSid: sid,
    RecordingSource: source,
    ...(answered_at !== undefined && { RecordingStartTime: rfc2822(answered_at + from) }),
    RecordingStatus: event,
    RecordingTrack: track,
    ...(event === "completed" && {
      RecordingDuration: String(secondsOf(recording)),
      RecordingUrl: recordingUrl(sid),
    }),
  };
};

const streamEvents = {
  started: "stream-started",
  stopped: "stream-stopped",
  failed: "stream-error",
} as const;

/** Which failures a request is repeated after, by the fragment of its URL, and how often. */
interface RetryPolicy {
  readonly attempts: number;
  readonly reasons: readonly string[];
}

/** By default a request is repeated once, and only where no connection was made. */
const policyOf = (url: string): RetryPolicy => {
  const settings = new URLSearchParams(new URL(url).hash.slice(1));
  const retries = Number(settings.get("rc") ?? 1);
  return {
    attempts: 1 + (Number.isInteger(retries) ? Math.min(Math.max(retries, 0), 5) : 1),
    reasons: (settings.get("rp") ?? "ct").split(","),
  };
};

const reasonOf = ({ status, timedOut }: Pick<Delivery, "status" | "timedOut">): string => {
  if (status !== undefined) return `${Math.floor(status / 100)}xx`;
  return timedOut ? "rt" : "ct";
};

/**
 * Whether a request is repeated.
 *
 * @param url - the URL with its fragment
 * @param count - how many attempts there were
 */
const isRepeated = (
  url: string,
  count: number,
  delivery: Pick<Delivery, "status" | "timedOut">,
): boolean => {
  const { attempts, reasons } = policyOf(url);
  const reason = reasonOf(delivery);
  const isReason = reasons.includes(reason) || (reasons.includes("all") && reason !== "3xx");
  return count < attempts && isReason;
};

/** The messages of Twilio's Media Streams. */
const mediaStreamsCodec: MarkupCarrier["openStream"] = ({ served, accountSid }, stream) => {
  const { streamSid, sides, parameters } = stream;
  const callSid = served.id;
  const form: MediaForm = {
    connected: { event: "connected", protocol: "Call", version: "1.0.0" },
    start: {
      start: {
        accountSid,
        streamSid,
        callSid,
        tracks: sides.map((side) => tracks[side]),
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate, channels: 1 },
        customParameters: parameters,
      },
    },
    stop: { stop: { accountSid, callSid } },
    dtmf: (digit) => ({ dtmf: { track: "inbound_track", digit } }),
    message: (event, sequenceNumber, fields) => ({ event, sequenceNumber, ...fields, streamSid }),
    check: (message) => {
      if (message.streamSid !== streamSid) throw new TypeError("streamSid must be the stream's");
    },
  };
  return mulawCodec(form, stream);
};

/** Twilio's markup, requests and media. */
export const twilioCarrier = (token: () => string, newId: NewId): MarkupCarrier => ({
  markup: "TwiML",
  sign: ({ url, fields }) => ({ "X-Twilio-Signature": signatureOf(token(), url, fields) }),
  alsoSigns: new Set(["media", "socket"] as const),
  keepsCookies: true,
  maxRedirects: 10,
  repeatsRequest: isRepeated,
  retryDelay: (url, attempts, delivery) => (isRepeated(url, attempts, delivery) ? 0 : undefined),
  notificationHeaders: () => ({ "I-Twilio-Idempotency-Token": crypto.randomUUID() }),
  reportsUnrung: false,
  statusFields,
  recordingSid: recordingSidOf,
  recordingFields,
  detectionFields: ({ served, accountSid, answeredBy = "unknown" }, duration) => ({
    AccountSid: accountSid,
    AnsweredBy: answeredBy,
    CallSid: served.id,
    MachineDetectionDuration: String(duration),
  }),
  streamFields: ({ served, accountSid }, { streamSid, name, event, error }) => ({
    AccountSid: accountSid,
    CallSid: served.id,
    StreamEvent: streamEvents[event],
    StreamSid: streamSid,
    ...(name !== undefined && { StreamName: name }),
    ...(error !== undefined && { StreamError: error }),
    Timestamp: new Date(served.timeline.now()).toISOString(),
  }),
  attributes,
  maxUrl,
  spokenRule: (text) =>
    encodeURIComponent(text).length > maxSpoken
      ? `must be at most ${maxSpoken} characters, URL-encoded`
      : undefined,
  codes: {
    url: 11_100,
    text: 13_521,
    media: 11_200,
    nobody: 13_223,
    track: 31_932,
    "socket url": 31_922,
    socket: 31_920,
  },
  documentCodes: { request: 11_200, length: 11_750, type: 12_300, syntax: 12_100 },
  newSid: (of, time) => `${prefixes[of]}${newId(time)}`,
  timestamp: rfc2822,
  failures,
  requestsOwnUrl: true,
  recordDefaults: {
    timeout: 5,
    countsFirstSilence: true,
    trim: "trim-silence",
    channels: 1,
    skipsEmpty: true,
  },
  silenceAfterSpeech: (timeout) => timeout,
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
  detected: (answerer, detection) => {
    if (answerer === "person") return "human";
    if (answerer === "unknown") return "unknown";
    if (detection === "Enable") return "machine_start";
    return answerer.beeps ? "machine_end_beep" : "machine_end_silence";
  },
  notifiesOfDetection: false,
});
