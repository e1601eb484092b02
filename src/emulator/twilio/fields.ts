import type { Method } from "./requests.ts";

/** Where Twilio sends requests, and how. */
export interface Target {
  /** With its fragment, which has the settings of the connection. */
  readonly url: string;
  readonly method: Method;
}

/** What a call does next: requests TwiML, or has it. */
export type Next = Target | { readonly twiml: string };

/** Events of a call that a `StatusCallback` can receive. */
const callEvents = ["initiated", "ringing", "answered", "completed"] as const;

export type CallEventName = (typeof callEvents)[number];

const recordingEvents = ["in-progress", "completed", "absent"] as const;

export type RecordingEventName = (typeof recordingEvents)[number];

/** A receiver, and the events that it wants. */
interface Receiver<Event> extends Target {
  readonly events: ReadonlySet<Event>;
}

/** The fields of a request for a call. */
export interface CallFields {
  readonly to: string;
  readonly from: string;
  readonly first: Next;
  readonly fallback: Target | undefined;
  readonly status: Receiver<CallEventName> | undefined;
  readonly record: boolean;
  readonly recording: Receiver<RecordingEventName> | undefined;
  /** Seconds of ringing. */
  readonly timeout: number | undefined;
  /** Seconds of the whole call. */
  readonly timeLimit: number | undefined;
  readonly machineDetection: "Enable" | "DetectMessageEnd" | undefined;
  /** Who is told what answered, while the flow runs already. */
  readonly asyncMachineDetection: Target | "nobody" | undefined;
}

/** Why a request is refused, in Twilio's form. */
export class TwilioError extends Error {
  override readonly name = "TwilioError" as const;
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** The body of the response. */
  get body(): object {
    const { status, code, message } = this;
    return { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status };
  }
}

const refuse = (code: number, message: string): never => {
  throw new TwilioError(400, code, message);
};

/** Whether a URL may be requested. */
export type IsAllowed = (url: string) => boolean;

const methodIn = (form: URLSearchParams, name: string): Method => {
  const method = (form.get(name) || "POST").toUpperCase();
  if (method === "GET" || method === "POST") return method;
  return refuse(21209, `${name} must be GET or POST`);
};

const targetIn = (
  form: URLSearchParams,
  name: string,
  code: number,
  isUrl: IsAllowed,
): Target | undefined => {
  const url = form.get(name);
  if (!url) return;
  if (!isUrl(url)) return refuse(code, `${name} is not a valid URL: ${url}`);
  return {
    url,
    method: methodIn(form, name === "FallbackUrl" ? "FallbackMethod" : `${name}Method`),
  };
};

/** A list of events: a name repeated, or names with spaces between. */
const eventsIn = <Event extends string>(
  form: URLSearchParams,
  name: string,
  known: readonly Event[],
): ReadonlySet<Event> => {
  const given = form.getAll(name).flatMap((value) => value.split(/[\s,]+/).filter(Boolean));
  const events = known.filter((event) => given.includes(event));
  return new Set(events.length > 0 ? events : known.filter((event) => event === "completed"));
};

const receiverIn = <Event extends string>(
  form: URLSearchParams,
  name: string,
  known: readonly Event[],
  isUrl: IsAllowed,
): Receiver<Event> | undefined => {
  const target = targetIn(form, name, 21609, isUrl);
  return target && { ...target, events: eventsIn(form, `${name}Event`, known) };
};

const secondsIn = (form: URLSearchParams, name: string, max: number): number | undefined => {
  const text = form.get(name);
  if (!text) return;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds > 0 && seconds <= max) return seconds;
  return refuse(21208, `${name} must be a number of seconds from 1 to ${max}`);
};

/** A number without the characters that people write between the digits. */
const numberIn = (text: string): string | undefined => {
  const number = text.replace(/[\s().-]/g, "");
  return /^\+[1-9]\d{6,14}$/.test(number) ? number : undefined;
};

/** The number or SIP address to call. */
const calleeIn = (text: string): string | undefined =>
  /^sip:[^\s<>"]+$/i.test(text) ? text : numberIn(text);

/** The TwiML of a request, or where to get it. */
export const nextIn = (form: URLSearchParams, isUrl: IsAllowed): Next | undefined => {
  const url = form.get("Url");
  const twiml = form.get("Twiml");
  if (!url) return twiml ? { twiml } : undefined;
  if (!isUrl(url)) return refuse(21205, `Url is not a valid URL: ${url}`);
  return { url, method: methodIn(form, "Method") };
};

const detectionIn = (form: URLSearchParams): CallFields["machineDetection"] => {
  const value = form.get("MachineDetection");
  return value === "Enable" || value === "DetectMessageEnd" ? value : undefined;
};

/**
 * The fields of a request for a call. Those that the emulator doesn't know are ignored, as Twilio does.
 *
 * @throws {TwilioError} for the first field that breaks a rule
 */
export const parseCall = (form: URLSearchParams, isUrl: IsAllowed): CallFields => {
  const to = form.get("To") || refuse(21201, "No 'To' number is specified");
  const from = form.get("From") || refuse(21213, "No 'From' number is specified");
  return {
    to: calleeIn(to) ?? refuse(21211, `The 'To' number ${to} is not a valid phone number.`),
    from: numberIn(from) ?? refuse(21212, `The 'From' number ${from} is not a valid phone number.`),
    first: nextIn(form, isUrl) ?? refuse(21205, "Url parameter is required."),
    fallback: targetIn(form, "FallbackUrl", 21205, isUrl),
    status: receiverIn(form, "StatusCallback", callEvents, isUrl),
    record: form.get("Record") === "true",
    recording: receiverIn(form, "RecordingStatusCallback", recordingEvents, isUrl),
    timeout: secondsIn(form, "Timeout", 600),
    timeLimit: secondsIn(form, "TimeLimit", 86_400),
    machineDetection: detectionIn(form),
    asyncMachineDetection:
      form.get("AsyncAmd") === "true"
        ? (targetIn(form, "AsyncAmdStatusCallback", 21609, isUrl) ?? "nobody")
        : undefined,
  };
};
