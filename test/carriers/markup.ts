import type { IncomingHttpHeaders } from "node:http";
import twilio from "twilio";
import type { CallRecord, EmulatorOptions } from "../../src/emulator/index.ts";
import type { Carrier } from "./carrier.ts";
import { mediaSockets, type OnMessage, type StreamMessage } from "./media-socket.ts";
import {
  type Answers,
  type Asked,
  answering,
  from,
  type serveApplication,
  startEmulator,
} from "./stage.ts";

type Fields = Readonly<Record<string, string>>;

/** The parameters of a call by their names on the wire; `document` is the one that comes with it. */
export interface CallFields {
  readonly document?: string | undefined;
  readonly StatusCallbackEvent?: readonly string[];
  readonly RecordingStatusCallbackEvent?: readonly string[];
  readonly [name: string]: unknown;
}

/** A carrier whose applications answer XML, which the emulator follows in one way for all of them. */
export interface MarkupCarrier extends Carrier {
  /** An application that takes only what the carrier's own verifier accepts. */
  readonly startApplication: (
    answers?: Answers,
  ) => ReturnType<typeof serveApplication<Record<string, string>>>;
  /** Whether the carrier's own verifier accepts a request, by a secret. */
  readonly verifies: (asked: Asked, secret: string) => boolean | Promise<boolean>;
  /** The secret of another account. */
  readonly otherSecret: string;
  /** Places a call with the carrier's own client, and returns its id. */
  readonly place: (baseUrl: string, fields: CallFields) => Promise<string>;
  readonly callId: RegExp;
  /** The name of the method by which the document is requested. */
  readonly methodField: string;
  /** The fields of a call in each request to an application. */
  readonly callFields: (id: string) => object;
  readonly statusFields: {
    /** What each notification has besides, at a time. */
    readonly each: (call: CallRecord, at: number) => object;
    /** What the last one has besides. */
    readonly last: (call: CallRecord) => object;
  };
  /** What the last notification says about a call's end, by its number. */
  readonly ends: readonly (readonly [to: string, fields: object])[];
  /** What the action of a Dial gets about the end of its leg, by its number. */
  readonly dialled: readonly (readonly [to: string, fields: object])[];
  /** How it names a machine that has answered. */
  readonly machine: string;
  /** A verb of this carrier alone, which is not emulated. */
  readonly notEmulated: readonly [name: string, build: Build];
  readonly media: {
    /** The attributes of a Stream whose application may send audio. */
    readonly attributes: string;
    /** Those of a Stream of both tracks. */
    readonly bothTracks: string;
    /** The fields that each message of an application has, after those were sent to it. */
    readonly address: (sent: readonly StreamMessage[]) => object;
    readonly idOf: (message: StreamMessage) => string | undefined;
    readonly numberOf: (message: StreamMessage) => string | undefined;
    readonly id: RegExp;
    readonly connected: object;
    readonly start: (call: CallRecord, id: string, parameters: Fields) => object;
    readonly stop: (call: CallRecord, number: string, id: string) => object;
    readonly key: (digit: string) => object;
    /** In Stop: ends the stream, whose name is `mine`. */
    readonly stopElement: string;
    /** Whether the request for a socket has the signature that the carrier's own verifier demands. */
    readonly isHandshake: (url: string, headers: IncomingHttpHeaders) => boolean;
  };
}

const { VoiceResponse } = twilio.twiml;

export type Build = (response: InstanceType<typeof VoiceResponse>) => unknown;

/** A document by Twilio's builder, which makes the same for the verbs that both carriers have. */
export const built = (build: Build): string => {
  const response = new VoiceResponse();
  build(response);
  return response.toString();
};

export const hangup: string = built((response) => response.hangup());

/** The parameters of a call, with the field in which its document goes. */
export const placed = ({ document, ...fields }: CallFields, documentField: string) => ({
  ...{ From: from, To: answering },
  ...(document !== undefined && { [documentField]: document }),
  ...fields,
});

/** Options of the emulator, and what the application answers. */
export type CallOptions = EmulatorOptions & { readonly to?: string; readonly answers?: Answers };

/** A call to its end, whose parameters name URLs of the application by their paths, and what the application got. */
export const called = async (
  { startApplication, emulated, place }: MarkupCarrier,
  fields: CallFields,
  { to = answering, answers = {}, ...options }: CallOptions = {},
) => {
  const application = await startApplication(answers);
  const { emulator, baseUrl } = await startEmulator({ ...emulated, ...options });
  const resolved = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [
      name,
      typeof value === "string" ? value.replace(/^\//, `${application.origin}/`) : value,
    ]);
  const id = await place(baseUrl, { To: to, ...Object.fromEntries(resolved) });
  const call = await emulator.ended(id);
  return { ...application, baseUrl, emulator, call };
};

/** Follows one document from the answer to the end of the call. */
export const followDocument = (
  carrier: MarkupCarrier,
  document: string,
  { answers, ...options }: CallOptions = {},
) =>
  called(carrier, { Url: "/voice" }, { answers: { "/voice": document, ...answers }, ...options });

/** The outcomes of all attempts to deliver notifications. */
export const outcomesOf = ({ history }: CallRecord): readonly string[] =>
  history.flatMap((entry) => (entry.type === "notification" ? [entry.outcome] : []));

/** The first notification of a call. */
export const notificationOf = ({ history }: CallRecord) => {
  const entry = history.find(({ type }) => type === "notification");
  if (entry?.type !== "notification") throw new Error("no notification");
  return entry;
};

/** Every call is answered by a machine. */
export const machine: EmulatorOptions = {
  onCall: () => ({ outcome: "answer", answeredBy: "machine" }),
};

/** A call that is streamed to an application in this process, by the instant clock. */
export const streamed = async (
  carrier: MarkupCarrier,
  onMessage: OnMessage,
  document: string,
  options: CallOptions = {},
) => {
  const { sockets, WebSocket } = mediaSockets(onMessage, carrier.media.address);
  const { call, emulator } = await called(carrier, { document }, { WebSocket, ...options });
  const [socket] = sockets;
  if (!socket) throw new Error(`no socket: ${call.flow_error}`);
  return { call, socket, emulator, audio: emulator.audio(call.id) };
};
