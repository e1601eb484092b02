import type { CallLimits, RequestedCall } from "../../../server/call.ts";
import type { IsAllowed } from "../../../server/rest.ts";
import type { Method } from "./requests.ts";

/** Where a carrier sends requests, and how. */
export interface Target {
  /** With its fragment, which may have settings of the connection. */
  readonly url: string;
  readonly method: Method;
}

/** What a call does next: requests a document, or has it. */
export type Next = Target | { readonly document: string };

/** Events of a call that a `StatusCallback` can receive. */
const callEvents = ["initiated", "ringing", "answered", "completed"] as const;

export type CallEventName = (typeof callEvents)[number];

export const recordingEvents = ["in-progress", "completed", "absent"] as const;

export type RecordingEventName = (typeof recordingEvents)[number];

/** A receiver, and the events that it wants. */
export interface Receiver<Event> extends Target {
  readonly events: ReadonlySet<Event>;
}

/** How a machine is detected: that it is one, or until its message has ended. */
export type MachineDetection = "Enable" | "DetectMessageEnd";

/** The fields of a request for a call. */
export interface CallFields {
  /** E.164, or a `sip:` URI. */
  readonly to: string;
  /** E.164. */
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
  readonly machineDetection: MachineDetection | undefined;
  /** Who is notified of what answered, while the flow runs already. */
  readonly asyncMachineDetection: Target | "nobody" | undefined;
}

/** A field that breaks a rule. */
export interface FieldProblem {
  readonly field: string;
  /** What is wrong with it. */
  readonly kind: "missing" | "number" | "url" | "method" | "seconds" | "length" | "unsupported";
  /** What it has. */
  readonly value: string;
  /** The rule, as the end of a sentence. */
  readonly rule: string;
}

/** The least and the most seconds. */
type Range = readonly [min: number, max: number];

/** The rules of one carrier's form for a call. */
export interface FormRules {
  /** The field with a document. */
  readonly document: string;
  /** The most characters of that, where the carrier has a limit. */
  readonly maxDocument?: number;
  /** The fields with the method of a URL, the first that is there; by default the name of the URL and `Method`. */
  readonly methods: Readonly<Record<string, readonly string[]>>;
  readonly timeout: Range;
  readonly timeLimit: Range;
  /** Fields that change what is called, and that are not emulated. */
  readonly unsupported: readonly string[];
  /** Throws the refusal. */
  readonly refuse: (problem: FieldProblem) => never;
}

/** A number without the characters that people write between the digits. */
const numberIn = (text: string): string | undefined => {
  const number = text.replace(/[\s().-]/g, "");
  return /^\+[1-9]\d{6,14}$/.test(number) ? number : undefined;
};

/** Why a number that a carrier may know is not emulated; `undefined` where it is none. */
const unsupportedForm = (text: string): string | undefined => {
  const [, scheme] = /^([a-z]+):/i.exec(text) ?? [];
  if (scheme) return `is an address of a kind that is not emulated: ${scheme.toLowerCase()}:`;
  const isNational = /^\d{7,15}$/.test(text.replace(/[\s().-]/g, ""));
  return isNational
    ? "is not in E.164, and no other form is emulated: give + and the country code first"
    : undefined;
};

const isSip = (text: string): boolean => /^sip:/i.test(text);

/** The number or SIP address to call. */
const calleeIn = (text: string): string | undefined => {
  if (!isSip(text)) return numberIn(text);
  return /^sip:[^\s<>"]+$/i.test(text) ? text : undefined;
};

/** Reads the fields of one request. */
export class FormReader {
  readonly #form: URLSearchParams;
  readonly #rules: FormRules;
  readonly #isUrl: IsAllowed;

  constructor(form: URLSearchParams, rules: FormRules, isUrl: IsAllowed) {
    this.#form = form;
    this.#rules = rules;
    this.#isUrl = isUrl;
  }

  text(field: string): string {
    return this.#form.get(field) ?? "";
  }

  #refuse(field: string, kind: FieldProblem["kind"], rule: string): never {
    return this.#rules.refuse({ field, kind, value: this.text(field), rule });
  }

  /** The document of a request, or where to get it. */
  next(): Next | undefined {
    const { document: field, maxDocument } = this.#rules;
    const document = this.text(field);
    if (maxDocument !== undefined && document.length > maxDocument) {
      return this.#refuse(field, "length", `must be at most ${maxDocument} characters long`);
    }
    return this.target("Url") ?? (document ? { document } : undefined);
  }

  target(field: string): Target | undefined {
    const url = this.text(field);
    if (!url) return;
    if (!this.#isUrl(url)) return this.#refuse(field, "url", "is not a valid URL");
    return { url, method: this.#method(field) };
  }

  #method(field: string): Method {
    const names = this.#rules.methods[field] ?? [`${field}Method`];
    const name = names.find((each) => this.text(each)) ?? "";
    const method = this.text(name).toUpperCase() || "POST";
    if (method === "GET" || method === "POST") return method;
    return this.#refuse(name, "method", "must be GET or POST");
  }

  receiver<Event extends string>(
    field: string,
    known: readonly Event[],
  ): Receiver<Event> | undefined {
    const target = this.target(field);
    return target && { ...target, events: this.#events(`${field}Event`, known) };
  }

  /** A list of events: a name repeated, or names with spaces between. */
  #events<Event extends string>(field: string, known: readonly Event[]): ReadonlySet<Event> {
    const given = this.#form
      .getAll(field)
      .flatMap((value) => value.split(/[\s,]+/).filter(Boolean));
    const events = known.filter((event) => given.includes(event));
    return new Set(events.length > 0 ? events : known.filter((event) => event === "completed"));
  }

  seconds(field: string, [min, max]: Range): number | undefined {
    const text = this.text(field);
    if (!text) return;
    const seconds = Number(text);
    if (/^\d+$/.test(text) && seconds >= min && seconds <= max) return seconds;
    return this.#refuse(field, "seconds", `must be a number of seconds from ${min} to ${max}`);
  }

  /** A number that `parse` takes. */
  number(field: string, parse: (text: string) => string | undefined): string {
    const text = this.text(field) || this.#refuse(field, "missing", "is missing");
    const number = parse(text);
    if (number !== undefined) return number;
    const isOfSip = isSip(this.text("To"));
    if (field === "To" && isOfSip) return this.#refuse(field, "number", "is no SIP address");
    const form =
      isOfSip && !text.includes(":")
        ? "is the name of a SIP user, which is not emulated: give a number in E.164"
        : unsupportedForm(text);
    if (form !== undefined) return this.#refuse(field, "unsupported", form);
    return this.#refuse(field, "number", "is not a valid phone number");
  }

  machineDetection(): MachineDetection | undefined {
    const value = this.text("MachineDetection");
    return value === "Enable" || value === "DetectMessageEnd" ? value : undefined;
  }

  /** All fields of a request for a call. */
  call(): CallFields {
    const { timeout, timeLimit, unsupported } = this.#rules;
    const field = unsupported.find((name) => this.text(name));
    if (field) return this.#refuse(field, "unsupported", "is not emulated");
    return {
      to: this.number("To", calleeIn),
      from: this.number("From", numberIn),
      first: this.next() ?? this.#refuse("Url", "missing", "is missing"),
      fallback: this.target("FallbackUrl"),
      status: this.receiver("StatusCallback", callEvents),
      record: this.text("Record") === "true",
      recording: this.receiver("RecordingStatusCallback", recordingEvents),
      timeout: this.seconds("Timeout", timeout),
      timeLimit: this.seconds("TimeLimit", timeLimit),
      machineDetection: this.machineDetection(),
      asyncMachineDetection:
        this.text("AsyncAmd") === "true"
          ? (this.target("AsyncAmdStatusCallback") ?? "nobody")
          : undefined,
    };
  }
}

/**
 * The fields of a request for a call. Those that the emulator doesn't know are ignored, as the carriers do.
 *
 * @throws what `refuse` throws, for the first field that breaks a rule
 */
export const parseCall = (form: URLSearchParams, rules: FormRules, isUrl: IsAllowed): CallFields =>
  new FormReader(form, rules, isUrl).call();

/** What the emulator keeps of every call. */
export const paramsOf = ({ to, from, first, status, record }: CallFields): RequestedCall => ({
  from_number: from,
  to_number: to,
  flow_url: "url" in first ? first.url : "",
  status_callback_url: status?.url ?? "",
  record,
});

/** The limits of a call, in milliseconds. */
export const limitsOf = ({ timeout, timeLimit }: CallFields): CallLimits => ({
  ...(timeout !== undefined && { answerTimeout: timeout * 1_000 }),
  ...(timeLimit !== undefined && { maxDuration: timeLimit * 1_000 }),
});
