import twilioClient from "twilio";
import { twilio } from "../../src/carriers/twilio/index.ts";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import {
  type CallOptions,
  followDocument,
  type MarkupCarrier,
  placed,
} from "../carriers/markup.ts";
import {
  type Answers,
  type Asked,
  answering,
  from,
  serveApplication,
  startEmulator,
} from "../carriers/stage.ts";

export const accountSid = "AC0123456789abcdef0123456789abcdef";
export const authToken = "fedcba9876543210fedcba9876543210";

/** Twilio's client, as an application has it: only its base URL is another. */
export const clientFor = (baseUrl: string, user = accountSid, password = authToken) => {
  const client = twilioClient(user, password, { accountSid });
  client.api.baseUrl = baseUrl;
  return client;
};

const emulated = { service: { name: "twilio", account: accountSid }, apiKey: authToken } as const;
const options = { accountSid, callsPerSecond: 1_000 };

/** Whether Twilio's own validator accepts the signature of a request. */
export const isSigned = (
  { method = "POST", url, headers, body }: Partial<Asked> & Pick<Asked, "url" | "headers">,
  token = authToken,
): boolean => {
  const signature = headers["x-twilio-signature"] ?? headers["X-Twilio-Signature"] ?? "";
  const fields = Object.fromEntries(new URLSearchParams(method === "GET" ? "" : body));
  return twilioClient.validateRequest(token, signature, url, fields);
};

/** An application that takes only what Twilio has signed, and answers TwiML. */
export const startApplication = (answers: Answers = {}) =>
  serveApplication(
    {
      isSigned: (asked) => isSigned(asked),
      fieldsOf: (body) => Object.fromEntries(new URLSearchParams(body)),
      type: "text/xml",
    },
    answers,
  );

export const carrier: MarkupCarrier = {
  name: "twilio",
  service: twilio({ ...options, authToken }),
  stranger: twilio({ ...options, authToken: "the token of another account" }),
  emulated,
  keyOf: () => authToken,
  account: accountSid,
  events: [
    [answering, ["initiated", "ringing", "answered", "completed"], undefined],
    ["+12025550101", ["initiated", "failed"], "busy"],
    ["+12025550102", ["initiated", "ringing", "failed"], "no_answer"],
    ["+12025550103", ["initiated", "ringing", "failed"], "rejected"],
    ["+12025550104", ["initiated", "failed"], "unreachable"],
  ],
  redeliveries: 2,
  steps: { play: "Play", next: "Redirect", dial: "Dial", end: ["Hangup"] },
  rejected: "no-answer",
  records: true,
  signsStart: true,
  frame: 1,
  startApplication,
  verifies: isSigned,
  otherSecret: "the token of another account",
  place: async (baseUrl, fields) => {
    // Its client has the names of the wire with a small first letter.
    const named = Object.entries(placed(fields, "twiml")).map(([name, value]) => [
      `${name.charAt(0).toLowerCase()}${name.slice(1)}`,
      value,
    ]);
    const { sid } = await clientFor(baseUrl).calls.create(Object.fromEntries(named));
    return sid;
  },
  callId: /^CA[\da-f]{32}$/,
  methodField: "Method",
  callFields: (CallSid) => ({
    ...{ AccountSid: accountSid, ApiVersion: "2010-04-01", CallSid, Direction: "outbound-api" },
    ...{ Called: answering, Caller: from, From: from, To: answering },
  }),
  statusFields: {
    each: (_, at) => ({ Timestamp: new Date(at).toUTCString().replace("GMT", "+0000") }),
    last: () => ({ Duration: "1", SipResponseCode: "200" }),
  },
  ends: [
    ["+12025550101", { CallStatus: "busy", SipResponseCode: "486", CallDuration: "0" }],
    ["+12025550102", { CallStatus: "no-answer", SipResponseCode: "487", CallDuration: "0" }],
    ["+12025550103", { CallStatus: "no-answer", SipResponseCode: "603", CallDuration: "0" }],
    ["+12025550104", { CallStatus: "failed", SipResponseCode: "404", CallDuration: "0" }],
  ],
  dialled: [
    [answering, { DialCallStatus: "completed", DialCallDuration: "5", DialBridged: "true" }],
    ["+12025550101", { DialCallStatus: "busy", DialBridged: "false" }],
    ["+12025550102", { DialCallStatus: "no-answer", DialBridged: "false" }],
    ["+12025550103", { DialCallStatus: "no-answer", DialBridged: "false" }],
    ["+12025550104", { DialCallStatus: "failed", DialBridged: "false" }],
  ],
  machine: "machine_start",
  notEmulated: [
    "Connect.ConversationRelay",
    (response) => response.connect().conversationRelay({ url: "wss://app.example" }),
  ],
  media: {
    attributes: "",
    bothTracks: 'track="both_tracks"',
    address: (sent) => ({ streamSid: sent.findLast(({ streamSid }) => streamSid)?.streamSid }),
    idOf: ({ streamSid }) => streamSid,
    numberOf: ({ sequenceNumber }) => sequenceNumber,
    id: /^MZ[\da-f]{32}$/,
    connected: { event: "connected", protocol: "Call", version: "1.0.0" },
    start: ({ id: callSid }, streamSid, customParameters) => ({
      sequenceNumber: "1",
      start: {
        ...{ accountSid, streamSid, callSid, customParameters, tracks: ["inbound"] },
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 },
      },
      streamSid,
    }),
    stop: ({ id: callSid }, sequenceNumber, streamSid) => ({
      ...{ sequenceNumber, stop: { accountSid, callSid }, streamSid },
    }),
    key: (digit) => ({ track: "inbound_track", digit }),
    stopElement: '<Stream name="mine"/>',
    isHandshake: (url, headers) =>
      isSigned({ url, headers: { "x-twilio-signature": `${headers["x-twilio-signature"]}` } }),
  },
};

/** An emulator of Twilio on a port, and Twilio's own client for it. */
export const startTwilio = async (options: EmulatorOptions = {}) => {
  const { emulator, baseUrl } = await startEmulator({ ...emulated, ...options });
  return { emulator, baseUrl, client: clientFor(baseUrl) };
};

/** Follows one document from the answer to the end of the call. */
export const follow = (document: string, options: CallOptions = {}) =>
  followDocument(carrier, document, options);
