import type { Instruction } from "../../../performer/instructions.ts";
import { type Answerer, FlowError, type Line } from "../../../performer/line.ts";
import { type DocumentContext, Performer } from "../../../performer/performer.ts";
import { type Message, noteLength, type ServedCall } from "../../../server/call.ts";
import type { FlowEntry } from "../../../server/history.ts";
import { logFailure, messageOf, statusIn } from "../../../server/outgoing.ts";
import type { FlowParts } from "../../../server/side.ts";
import type { MarkupCall } from "./call.ts";
import {
  beginning,
  methodOf,
  notEmulated,
  type Request,
  resolve,
  unknownAttributes,
  type Verb,
  type VerbCarrier,
  type VerbContext,
} from "./context.ts";
import { dial } from "./dial.ts";
import { type MarkupElement, parseMarkup } from "./document.ts";
import type { MachineDetection, Target } from "./fields.ts";
import { gather, prompt } from "./gather.ts";
import { detectionMessage } from "./notifications.ts";
import { record } from "./record.ts";
import { CookieJar, type Fields, fetchDocument } from "./requests.ts";
import { connect, start, stop } from "./streams.ts";

const redirect: Verb = (element, context) => ({
  type: "continue",
  step: beginning(element, context),
  next: () => {
    const url = resolve(context, "Redirect", element.text);
    return { request: { url, method: methodOf(element.attributes.method) } };
  },
});

const hangup: Verb = (element, context) => ({
  type: "continue",
  step: beginning(element, context),
  next: () => "end",
});

const verbs: Readonly<Record<string, Verb>> = {
  Say: prompt,
  Play: prompt,
  Pause: prompt,
  Gather: gather,
  Record: record,
  Dial: dial,
  Connect: connect,
  Start: start,
  Stop: stop,
  Redirect: redirect,
  Hangup: hangup,
  Reject: hangup,
};

/**
 * Translates the verbs of a document, one after the other.
 *
 * @throws {FlowError} at a verb that can't be performed, or that the emulator doesn't have
 */
function* translate(
  elements: readonly MarkupElement[],
  context: VerbContext,
): Generator<Instruction<Request>> {
  for (const [at, element] of elements.entries()) {
    const { name } = element;
    const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
    yield verb ? verb(element, context, elements[at + 1]?.name) : notEmulated(context, name);
  }
}

/** Why a document can't be read: carriers have codes for these. */
type DocumentTrouble = "request" | "length" | "type" | "syntax";

/** A carrier whose applications answer markup. */
export interface MarkupCarrier extends VerbCarrier {
  /** The carrier's codes for documents. */
  readonly documentCodes: Readonly<Partial<Record<DocumentTrouble, number>>>;
  /** How a document of a type is read; `undefined` if it isn't. */
  readonly readingOf: (type: string) => "markup" | "speech" | "audio" | undefined;
  /** What is in a document that the emulator can't follow, as the end of a sentence. */
  readonly unreadable?: (text: string) => string | undefined;
  /** The fields of a request to the fallback URL. */
  readonly fallbackFields: (code: number | undefined, url: string) => Fields;
  /** What has answered, by the detection. */
  readonly detected: (answerer: Answerer, detection: MachineDetection) => string;
  /** Whether the status callback is notified of what answered before the flow begins. */
  readonly notifiesOfDetection: boolean;
}

/** What flows need beside what every flow needs. */
export interface FlowSide {
  readonly carrier: MarkupCarrier;
  readonly notify: (message: Message) => void;
}

/** A document that is performed. */
interface Document {
  /** Empty for one that came with a request of the API. */
  readonly url: string;
  readonly verbs: readonly MarkupElement[];
}

/** How many documents in a row may do nothing but redirect, or take no time, such as a Dial whose callee is busy. */
const maxRedirects = 50;

/** The most characters of a document that the history keeps. */
const maxShown = 4_096;

const element = (name: string, text: string): MarkupElement => ({
  name,
  attributes: {},
  children: [],
  text,
});

/** A document in the history, without its text. */
type Seen = Pick<FlowEntry, "url" | "ms" | "status" | "request">;

/** Requests and reads the documents of one call. */
class Documents {
  readonly #call: MarkupCall;
  readonly #parts: FlowParts;
  readonly #carrier: MarkupCarrier;
  readonly #cookies: CookieJar | undefined;

  constructor(call: MarkupCall, parts: FlowParts, carrier: MarkupCarrier) {
    this.#call = call;
    this.#parts = parts;
    this.#carrier = carrier;
    this.#cookies = carrier.keepsCookies ? new CookieJar() : undefined;
  }

  get #served(): ServedCall {
    return this.#call.served;
  }

  async get(next: Request, { step, signal }: DocumentContext): Promise<Document> {
    if ("document" in next) {
      return { url: "", verbs: this.#read(next.document, step, { url: "", ms: 0 }) };
    }
    const carrier = this.#carrier;
    const fields = { ...carrier.callFields(this.#call), ...next.fields };
    const { request } = this.#parts;
    const { reach } = this.#served;
    this.#served.warnOfPlain(next.url);
    const parts = { request, cookies: this.#cookies, carrier, reach, signal };
    const fetched = await fetchDocument(next.url, next.method, fields, parts);
    const { url, ms, response, body, error, cookie } = fetched;
    const status = response && { status: response.status };
    const sent = { method: next.method, fields, ...(cookie !== undefined && { cookie }) };
    const seen = { url, ms, ...status, request: sent };
    const fail = (rule: string, trouble: DocumentTrouble): never => {
      this.#served.log({ type: "flow", step, ...seen });
      throw new FlowError(step, "Url", rule, carrier.documentCodes[trouble]);
    };
    if (error !== undefined || !response || !body)
      return fail(`gave no answer: ${error}`, "request");
    if (!response.ok) return fail(`answered ${statusIn(response)}`, "request");
    const type = response.headers.get("Content-Type") ?? "";
    const reading = carrier.readingOf(type);
    if (reading === "audio") {
      this.#served.log({ type: "flow", step, ...seen });
      return { url, verbs: [element("Play", url)] };
    }
    if (!body.isWhole) return fail("answered more than 64 kB", "length");
    if (!reading) return fail(`answered the type ${type || "none"}, not text/xml`, "type");
    const verbs = this.#read(new TextDecoder().decode(body.bytes), step, seen, reading);
    logFailure(response, step, this.#served);
    return { url, verbs };
  }

  /** Reads a document, and logs it as it came. */
  #read(
    text: string,
    step: number,
    seen: Seen,
    reading: "markup" | "speech" = "markup",
  ): readonly MarkupElement[] {
    const { markup, attributes, documentCodes, unreadable } = this.#carrier;
    const entry = { type: "flow", step, ...seen, document: text.slice(0, maxShown) } as const;
    try {
      const rule = unreadable?.(text);
      if (rule !== undefined) throw new TypeError(rule);
      const verbs = reading === "markup" ? parseMarkup(text) : [element("Say", text.trim())];
      const unknown_fields = unknownAttributes(verbs, attributes);
      this.#served.log({ ...entry, ...(unknown_fields.length > 0 && { unknown_fields }) });
      return verbs;
    } catch (error) {
      this.#served.log(entry);
      throw new FlowError(step, `The ${markup}`, messageOf(error), documentCodes.syntax);
    }
  }
}

/** Finds out what answered: before the flow, or while it runs. */
const detect = async (
  call: MarkupCall,
  line: Line,
  { carrier, notify }: FlowSide,
): Promise<void> => {
  const { served, fields } = call;
  const { machineDetection, asyncMachineDetection } = fields;
  if (!machineDetection) return;
  const find = async (on: Line, target: Target | undefined): Promise<void> => {
    const from = on.talkTime;
    const answerer = await on.whoAnswered(machineDetection === "DetectMessageEnd");
    if (served.isOver) return;
    call.answeredBy = carrier.detected(answerer, machineDetection);
    if (target) notify(detectionMessage(call, target, on.talkTime - from, carrier));
  };
  if (asyncMachineDetection) {
    const target = asyncMachineDetection === "nobody" ? undefined : asyncMachineDetection;
    line.beside((forked) => find(forked, target));
    return;
  }
  await find(line, carrier.notifiesOfDetection ? fields.status : undefined);
};

/** Follows the flow of an answered call. */
export const followMarkup = async (
  call: MarkupCall,
  parts: FlowParts,
  side: FlowSide,
): Promise<void> => {
  const { served, fields } = call;
  const { carrier } = side;
  const documents = new Documents(call, parts, carrier);
  let { fallback } = fields;
  /** How many documents in a row did nothing but redirect. */
  let redirects = 0;
  const { line } = parts;
  /** How many documents in a row took no time, and when the last one that took some had ended. */
  let instant = 0;
  let since = -1;
  const performer = new Performer<Request>(line, {
    first: fields.first,
    load: async (request, context) => {
      const { step } = context;
      if (redirects >= maxRedirects) {
        const rule = `follows ${maxRedirects} others that do nothing else`;
        throw new FlowError(step, "Redirect", rule);
      }
      if (line.talkTime > since) instant = 0;
      since = line.talkTime;
      if (instant++ >= maxRedirects) {
        throw new FlowError(step, "Url", `follows ${maxRedirects} others that take no time`);
      }
      noteLength(step, served);
      const { url, verbs } = await documents.get(request, context);
      redirects = verbs[0]?.name === "Redirect" ? redirects + 1 : 0;
      return translate(verbs, { ...side, call, step, url });
    },
    recover: (error, failed) => {
      if (!fallback) return;
      const { code = carrier.documentCodes.request } = error;
      const { step, field, message } = error;
      served.log({ type: "flow_error", step, field, message, ...(code !== undefined && { code }) });
      const url = "url" in failed ? failed.url : "";
      const recovered = { ...fallback, fields: carrier.fallbackFields(code, url) };
      fallback = undefined;
      return recovered;
    },
  });
  await detect(call, line, side);
  call.redirect = (next) => performer.redirect(next);
  try {
    await performer.perform();
  } finally {
    call.redirect = undefined;
    if (!served.isOver) call.endedBy = "caller";
  }
};
