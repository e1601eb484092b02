import Telnyx from "telnyx";
import { TelnyxWebhook } from "telnyx/lib/webhooks";
import { expect } from "vitest";
import { telnyx } from "../../src/carriers/telnyx/index.ts";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import {
  type CallOptions,
  followDocument,
  type MarkupCarrier,
  placed,
} from "../carriers/markup.ts";
import {
  type Answers,
  answering,
  from,
  serveApplication,
  startEmulator,
} from "../carriers/stage.ts";
import { publicKey } from "../unit/telnyx/sign.ts";

export const applicationId = "1773070540731319841";
/** The account of the emulator's calls, unless a request names another one. */
export const accountSid = "f5586561-8ff0-4291-a51b-c7dfe4139ff9";
export const apiKey = "KEY0123456789ABCDEF";

const emulated = { service: { name: "telnyx", account: applicationId }, apiKey } as const;
const otherKey = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";
const options = { applicationId, accountSid, callsPerSecond: 1_000 };

/** Telnyx's client, as an application has it: only its base URL is another. */
export const clientFor = (baseUrl: string, key = apiKey) =>
  new Telnyx({ apiKey: key, baseURL: `${baseUrl}/v2`, maxRetries: 0 });

/** What the path with an application's id takes: more than the types of the client name. */
interface CallBody {
  readonly To?: string;
  readonly Url?: string;
  readonly Texml?: string;
  readonly [field: string]: unknown;
}

/** Places a call by its application, and returns the call's SID. */
export const place = async (client: Telnyx, body: CallBody): Promise<string> => {
  const call = { From: from, To: answering, ...body };
  return (await client.texml.calls.create(applicationId, call)).call_sid;
};

/** Whether Telnyx's own verifier accepts a request. */
const isAccepted = async (
  webhook: TelnyxWebhook,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<boolean> =>
  webhook.verify(body, { ...headers }).then(
    () => true,
    () => false,
  );

/** An application that takes only what Telnyx's own verifier accepts, and answers TeXML. Media are for anyone. */
export const startApplication = (answers: Answers = {}) => {
  const webhook = new TelnyxWebhook(publicKey);
  return serveApplication(
    {
      isSigned: ({ path, headers, body }) =>
        path.endsWith(".wav") || isAccepted(webhook, body, headers),
      fieldsOf: (body) => Object.fromEntries(new URLSearchParams(body)),
      type: "application/xml",
    },
    answers,
  );
};

const iso = (time = 0): string => new Date(time).toISOString();
const anyUuid = expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);

const legacy = { DialCallSidLegacy: expect.stringMatching(/^v3:/) };

const endOf = (
  CallStatus: string,
  HangupCause: string,
  HangupSource: string,
  SipHangupCause: string,
) => ({ CallStatus, HangupCause, HangupSource, SipHangupCause });

export const carrier: MarkupCarrier = {
  name: "telnyx",
  // The public key of what the emulator signs with.
  service: telnyx({ ...options, publicKey }),
  stranger: telnyx({ ...options, publicKey: otherKey }),
  emulated,
  keyOf: () => apiKey,
  account: anyUuid,
  events: [
    [answering, ["initiated", "ringing", "answered", "completed"], "normal"],
    ["+12025550101", ["initiated", "failed"], "busy"],
    ["+12025550102", ["initiated", "ringing", "failed"], "no_answer"],
    ["+12025550103", ["initiated", "ringing", "failed"], "rejected"],
    ["+12025550104", ["initiated", "failed"], "unreachable"],
  ],
  redeliveries: 2,
  steps: { play: "Play", next: "Redirect", dial: "Dial", end: ["Hangup"] },
  rejected: "failed",
  records: true,
  signsStart: true,
  frame: 20,
  startApplication,
  verifies: ({ body, headers }, key) => isAccepted(new TelnyxWebhook(key), body, headers),
  otherSecret: otherKey,
  place: (
    baseUrl,
    { StatusCallbackEvent: status, RecordingStatusCallbackEvent: recording, ...fields },
  ) =>
    place(clientFor(baseUrl), {
      ...placed(fields, "Texml"),
      ...(status && { StatusCallbackEvent: status.join(" ") }),
      ...(recording && { RecordingStatusCallbackEvent: recording.join(" ") }),
    }),
  callId: /^v3:[\da-f]{32}$/,
  methodField: "UrlMethod",
  callFields: (id) => ({
    ...{ AccountSid: anyUuid, CallSid: id, CallSidLegacy: id, CallerId: from },
    ...{ ConnectionId: applicationId, From: from, To: answering },
  }),
  statusFields: {
    each: ({ initiated_at }, at) => ({ CallInitiatedAt: iso(initiated_at), Timestamp: iso(at) }),
    last: ({ id, initiated_at, answered_at, ended_at }) => ({
      ...{ CallControlId: id, CallSessionId: anyUuid, StartTime: iso(initiated_at) },
      ...{ AnsweredTime: iso(answered_at), EndTime: iso(ended_at) },
      ...{ HangupCause: "normal_clearing", HangupSource: "caller", SipHangupCause: "200" },
    }),
  },
  ends: [
    ["+12025550101", endOf("busy", "user_busy", "callee", "486")],
    ["+12025550102", endOf("no-answer", "timeout", "caller", "487")],
    ["+12025550103", endOf("failed", "call_rejected", "callee", "603")],
    ["+12025550104", endOf("failed", "not_found", "callee", "404")],
    ["+12025550105", endOf("completed", "normal_clearing", "callee", "200")],
  ],
  dialled: [
    [answering, { ...legacy, DialCallStatus: "completed", DialCallDuration: "5" }],
    ["+12025550101", { ...legacy, DialCallStatus: "busy" }],
    ["+12025550102", { ...legacy, DialCallStatus: "no-answer" }],
    ["+12025550103", { ...legacy, DialCallStatus: "failed" }],
    ["+12025550104", { ...legacy, DialCallStatus: "failed" }],
  ],
  machine: "machine",
  notEmulated: ["Start.Siprec", (response) => response.start().siprec({ name: "one" })],
  media: {
    attributes: 'bidirectionalMode="rtp" bidirectionalCodec="PCMU"',
    bothTracks: 'track="both_tracks"',
    address: () => ({}),
    idOf: ({ stream_id }) => stream_id,
    numberOf: ({ sequence_number }) => sequence_number,
    id: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
    connected: { event: "connected", version: "1.0.0" },
    start: ({ id: call_control_id }, stream_id, custom_parameters) => ({
      sequence_number: "1",
      start: {
        ...{ user_id: expect.any(String), call_control_id, call_session_id: expect.any(String) },
        ...{ from, to: answering, tags: [], custom_parameters },
        media_format: { encoding: "PCMU", sample_rate: 8_000, channels: 1 },
      },
      stream_id,
    }),
    stop: ({ id: call_control_id }, sequence_number, stream_id) => ({
      ...{ sequence_number, stop: { user_id: expect.any(String), call_control_id }, stream_id },
    }),
    key: (digit) => ({ digit }),
    // It needs no name.
    stopElement: "<Stream/>",
    // It has none.
    isHandshake: () => true,
  },
};

/** An emulator of Telnyx on a port, and Telnyx's own client for it. */
export const startTelnyx = async (options: EmulatorOptions = {}) => {
  const { emulator, baseUrl } = await startEmulator({ ...emulated, ...options });
  return { emulator, baseUrl, client: clientFor(baseUrl) };
};

/** Follows one document from the answer to the end of the call. */
export const follow = (document: string, options: CallOptions = {}) =>
  followDocument(carrier, document, options);
