import type { Following, Instruction } from "../../../performer/instructions.ts";
import { type Beginning, FlowError } from "../../../performer/line.ts";
import type { SocketCodec } from "../../../performer/media-socket.ts";
import type { Message } from "../../../server/call.ts";
import { isAllowed } from "../../../server/outgoing.ts";
import type { Failures, MarkupCall } from "./call.ts";
import type { MarkupElement } from "./document.ts";
import type { Next } from "./fields.ts";
import type { OpenedStream, StreamPlan } from "./media.ts";
import type { NotificationCarrier } from "./notifications.ts";
import type { Fields, Method } from "./requests.ts";

/** Why a verb can't be performed: carriers have codes for these. */
type Trouble = "url" | "text" | "media" | "nobody" | "track" | "socket url" | "socket";

/** An attribute whose value can't be followed. */
interface AttributeProblem {
  readonly attribute: string;
  /** The end of a sentence. */
  readonly rule: string;
  readonly trouble?: Trouble;
}

/** How a carrier's `Record` differs from that of the others. */
interface RecordDefaults {
  /** Seconds of silence that end it by default; 0 is none. */
  readonly timeout: number;
  /** Whether the silence before the callee speaks counts. */
  readonly countsFirstSilence: boolean;
  /** Whether it is without the silence at its beginning and its end by default. */
  readonly trim: "trim-silence" | "do-not-trim";
  readonly channels: 1 | 2;
  /** Whether one without a sound is none, after which the next verb is performed. */
  readonly skipsEmpty: boolean;
}

/** The markup of a carrier. */
export interface VerbCarrier extends NotificationCarrier {
  /** Its name. */
  readonly markup: string;
  /** The attributes of each verb that the emulator follows; others are listed in the history. */
  readonly attributes: Readonly<Record<string, readonly string[]>>;
  /** The most characters of a URL in a document. */
  readonly maxUrl: number;
  /** Why a text can't be spoken, as the end of a sentence. */
  readonly spokenRule?: (text: string) => string | undefined;
  /** The carrier's codes for what can't be done. */
  readonly codes: Readonly<Partial<Record<Trouble, number>>>;
  /** What is signed besides requests for documents and notifications. */
  readonly alsoSigns: ReadonlySet<"media" | "socket">;
  /** Makes an id of this carrier. */
  readonly newSid: (of: "call" | "stream" | "recording" | "conference", time: number) => string;
  /** A time as its requests have it, by its milliseconds since 1970. */
  readonly timestamp: (time: number) => string;
  /** The status of a call that nobody answered, by the reason. */
  readonly failures: Failures;
  /** Whether a `Gather` and a `Record` without an `action` request the URL of their document. */
  readonly requestsOwnUrl: boolean;
  readonly recordDefaults: RecordDefaults;
  /** The fields of every request about a call. */
  readonly callFields: (call: MarkupCall) => Fields;
  /** How long it is silent until speech has ended by default, in milliseconds, by the `timeout` of its `Gather`. */
  readonly silenceAfterSpeech: (timeout: number) => number;
  /** The fields of a `Gather` that has ended with keys. */
  readonly gatherFields: (digits: string, finishedBy: string) => Fields;
  /**
   * The fields of a `Dial` that has ended.
   *
   * @param seconds - of conversation; absent when nobody answered
   */
  readonly dialFields: (sid: string, status: string, seconds: number | undefined) => Fields;
  /** Whether the query of a `Stream`'s URL is dropped. */
  readonly dropsQuery: boolean;
  /** Reads the attributes of a `Stream`, by the verb around it. */
  readonly planStream: (
    attributes: MarkupElement["attributes"],
    verb: "Connect" | "Start",
  ) => StreamPlan | AttributeProblem;
  readonly openStream: (call: MarkupCall, stream: OpenedStream) => SocketCodec;
}

/** What the verbs of one document share. */
export interface VerbContext {
  readonly call: MarkupCall;
  readonly carrier: VerbCarrier;
  /** Counts the documents of the call from 1. */
  readonly step: number;
  /** The URL of the document: relative ones start there. */
  readonly url: string;
  readonly notify: (message: Message) => void;
}

/** A request for the next document. */
export type Request = Next & { readonly fields?: Fields };

/**
 * Translates a verb for the performer.
 *
 * @param follower - the name of the next verb, if there is one
 * @throws {FlowError} when it can't be performed
 */
export type Verb = (
  element: MarkupElement,
  context: VerbContext,
  follower: string | undefined,
) => Instruction<Request>;

/** A request, or the next verb where there is none. */
export const requested = (request: Request | undefined): Following<Request> =>
  request ? { request } : "next";

/** The attributes by which a verb has a recording notified, with each carrier. */
export const recordingCallback = [
  "recordingStatusCallback",
  "recordingStatusCallbackMethod",
  "recordingStatusCallbackEvent",
] as const;

/** The attributes of `Dial` that the emulator follows, with each carrier. */
export const dialAttributes: readonly string[] = [
  "action",
  "method",
  "timeout",
  "timeLimit",
  "record",
  "trim",
  ...recordingCallback,
];

/** Those of `Conference`. */
export const conferenceAttributes: readonly string[] = [
  "startConferenceOnEnter",
  "endConferenceOnExit",
  "maxParticipants",
  "muted",
  "statusCallback",
  "statusCallbackMethod",
  "statusCallbackEvent",
];

/** The attributes in a document that the emulator does not follow, such as `Say.voice`; the first 20. */
export const unknownAttributes = (
  elements: readonly MarkupElement[],
  followed: VerbCarrier["attributes"],
): readonly string[] => {
  const unknown = elements.flatMap(({ name, attributes, children }) => {
    const known = followed[name];
    const own = known ? Object.keys(attributes).filter((each) => !known.includes(each)) : [];
    // What is in a Say is SSML.
    return [
      ...own.map((each) => `${name}.${each}`),
      ...(name === "Say" ? [] : unknownAttributes(children, followed)),
    ];
  });
  return [...new Set(unknown)].slice(0, 20);
};

/** @throws {FlowError} always */
export const fail = (
  { step, carrier }: VerbContext,
  field: string,
  rule: string,
  trouble?: Trouble,
): never => {
  throw new FlowError(step, field, rule, trouble && carrier.codes[trouble]);
};

/** The beginning of a verb, in the history. */
export const beginning = (
  { name: verb, attributes, text }: MarkupElement,
  { step }: VerbContext,
): Beginning => ({
  type: "verb",
  step,
  verb,
  attributes,
  // A Gather's text is that of the verbs in it.
  ...(text && verb !== "Gather" && { text }),
});

/** An attribute, where the carrier has it. */
export const attributeOf = (
  { name, attributes }: MarkupElement,
  attribute: string,
  { carrier }: VerbContext,
): string | undefined =>
  carrier.attributes[name]?.includes(attribute) ? attributes[attribute] : undefined;

/** A whole number of an attribute; the default where it is missing or something else. */
export const numberOf = (
  element: MarkupElement,
  attribute: string,
  context: VerbContext,
  missing: number,
): number => {
  const text = attributeOf(element, attribute, context) ?? "";
  return /^\d+$/.test(text) ? Number(text) : missing;
};

export const methodOf = (text: string | undefined): Method =>
  text?.toUpperCase() === "GET" ? "GET" : "POST";

/** A URL of a document, which may be relative. */
export const resolve = (context: VerbContext, field: string, given: string): string => {
  const { url, call, carrier } = context;
  let resolved: URL;
  try {
    resolved = new URL(given, url || undefined);
  } catch {
    return fail(context, field, "is not a URL", "url");
  }
  const { maxUrl } = carrier;
  if (resolved.href.length > maxUrl) {
    return fail(context, field, `must be at most ${maxUrl} characters long`, "url");
  }
  const bare = new URL(resolved);
  bare.username = bare.password = bare.hash = "";
  if (isAllowed(bare.href, call.served.reach, maxUrl)) return resolved.href;
  return fail(
    context,
    field,
    "must be http or https, and lead to no private host of a remote service",
    "url",
  );
};

/** The request to a URL of a verb, by default its `action`. */
export const actionOf = (
  element: MarkupElement,
  context: VerbContext,
  fields: Fields,
  attribute = "action",
): Request | undefined => {
  const action = attributeOf(element, attribute, context);
  if (!action) return;
  const url = resolve(context, `${element.name}.${attribute}`, action);
  return { url, method: methodOf(attributeOf(element, "method", context)), fields };
};

/** The request after a verb to its `action`, or to the URL of the document where the carrier makes that of it. */
export const requestAfter = (
  element: MarkupElement,
  context: VerbContext,
  fields: Fields,
): Request | undefined => {
  const { carrier, url } = context;
  const then = actionOf(element, context, fields);
  if (then) return then;
  if (!carrier.requestsOwnUrl) return;
  if (url) return { url, method: methodOf(attributeOf(element, "method", context)), fields };
  const rule = `is missing, and the ${carrier.markup} has no URL`;
  return fail(context, `${element.name}.action`, rule, "url");
};

const useStream = "connect a Stream";
const useDial = "call somebody by Dial, or join a Conference";

/** What an application may do in the place of a verb that isn't emulated. A noun has the name of its verb before it. */
export const replacements: Readonly<Record<string, string>> = {
  Enqueue: useDial,
  Leave: useDial,
  Queue: useDial,
  Pay: "take the digits by Gather",
  Prompt: "take the digits by Gather",
  Refer: "call the address by Dial and Sip",
  Sms: "send it by the API",
  Message: "send it by the API",
  Echo: useStream,
  AIGather: useStream,
  "Connect.ConversationRelay": useStream,
  "Connect.VirtualAgent": useStream,
  "Connect.Autopilot": useStream,
  "Connect.Room": useStream,
  "Connect.Conversation": useStream,
  "Connect.AIAssistant": useStream,
  "Start.Siprec": useStream,
  "Start.Transcription": useStream,
  "Start.Recording": "place the call with Record",
  "Dial.Queue": useDial,
  "Dial.Sim": "give a Number",
  "Dial.WhatsApp": "give a Number",
  "Dial.Application": "give a Number, a Sip or a Client",
  "Play.mediaStorage": "give the URL of the audio",
};

/**
 * Ends the flow with the name of a verb or a noun, and with what would replace it.
 *
 * @throws {FlowError} always
 */
export const notEmulated = (context: VerbContext, name: string): never => {
  const instead = Object.hasOwn(replacements, name) ? replacements[name] : undefined;
  return fail(context, name, `is not emulated${instead === undefined ? "" : `: ${instead}`}`);
};
