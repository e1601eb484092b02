import type { AnsweringMachine, Call, Message } from "../call.ts";
import type { FlowEntry } from "../history.ts";
import { FlowError, type FlowParts, waitUntil } from "../line.ts";
import { messageOf } from "../outgoing.ts";
import type { MarkupCall } from "./call.ts";
import { type Request, unknownAttributes, type VerbCarrier, type VerbContext } from "./context.ts";
import { CookieJar } from "./cookies.ts";
import { type MarkupElement, parseMarkup } from "./document.ts";
import type { MachineDetection, Next, Target } from "./fields.ts";
import { detectionMessage } from "./notifications.ts";
import { type Fields, fetchDocument } from "./requests.ts";
import { BackgroundStreams } from "./streams.ts";
import { perform } from "./verbs.ts";

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
  readonly detected: (machine: AnsweringMachine | undefined, detection: MachineDetection) => string;
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

/** The verbs that speak before keys are taken. */
const prompts: ReadonlySet<string> = new Set(["Say", "Play", "Pause"]);

/** The verbs that end the prompts before them, and their own, themselves. */
const takers: ReadonlySet<string> = new Set(["Gather", "Record"]);

/** How many documents in a row may do nothing but redirect. */
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

/** How long the detection of a machine takes, in milliseconds. */
const detectionDuration = 2_000;

/** How long it is silent after a greeting without a beep until that counts as its end, in milliseconds. */
const endSilence = 1_200;

/** How long the detection takes: that of a greeting's end waits for it. */
const detectionDurationOf = (
  machine: AnsweringMachine | undefined,
  detection: MachineDetection,
): number => {
  if (!machine || detection === "Enable") return detectionDuration;
  return Math.max(detectionDuration, machine.readyAt + (machine.beeps ? 0 : endSilence));
};

/** The flow of one call. */
class MarkupFlow {
  readonly #known: MarkupCall;
  readonly #parts: FlowParts;
  readonly #side: FlowSide;
  readonly #streams: BackgroundStreams;
  readonly #cookies: CookieJar | undefined;
  /** Where the call continues, as a request of the API wants it. */
  #redirected: Next | undefined;
  #step = 0;
  /** How many documents in a row did nothing but redirect. */
  #redirects = 0;

  constructor(known: MarkupCall, parts: FlowParts, side: FlowSide) {
    this.#known = known;
    this.#parts = parts;
    this.#side = side;
    this.#streams = new BackgroundStreams(known.call);
    this.#cookies = side.carrier.keepsCookies ? new CookieJar() : undefined;
  }

  get #call(): Call {
    return this.#known.call;
  }

  /** Performs document after document until there is none, or the call is over. */
  async follow(): Promise<void> {
    const { fields } = this.#known;
    await this.#detect();
    let fallback = fields.fallback;
    try {
      let next: Request | undefined = fields.first;
      while (next && !this.#call.isOver) {
        const current: Request = next;
        try {
          next = await this.#performNext(current);
        } catch (error) {
          if (!(error instanceof FlowError) || !fallback || this.#call.isOver) throw error;
          next = this.#fallbackFrom(error, fallback, current);
          fallback = undefined;
        }
      }
    } finally {
      this.#known.redirect = undefined;
      if (!this.#call.isOver) this.#known.endedBy = "caller";
      await this.#streams.stopAll();
    }
  }

  /** Finds out what answered: before the flow, or while it runs. */
  async #detect(): Promise<void> {
    const { fields } = this.#known;
    const { machineDetection, asyncMachineDetection } = fields;
    if (!machineDetection) return;
    const { machine } = this.#call;
    const duration = detectionDurationOf(machine, machineDetection);
    const { detected, notifiesOfDetection } = this.#side.carrier;
    const found = () => {
      this.#known.answeredBy = detected(machine, machineDetection);
    };
    if (!asyncMachineDetection) {
      await waitUntil(this.#call, this.#call.talkTime + duration);
      found();
      if (notifiesOfDetection && fields.status && !this.#call.isOver)
        this.#notify(fields.status, duration);
      return;
    }
    this.#call.timeline.after(duration, () => {
      found();
      if (asyncMachineDetection !== "nobody") this.#notify(asyncMachineDetection, duration);
    });
  }

  #notify(target: Target, duration: number): void {
    const { carrier, notify } = this.#side;
    notify(detectionMessage(this.#known, target, duration, carrier));
  }

  /** The request to the fallback URL, after what failed. */
  #fallbackFrom(error: FlowError, fallback: Target, of: Request): Request {
    const { fallbackFields, documentCodes } = this.#side.carrier;
    const { step, field, message, code = documentCodes.request } = error;
    this.#call.log({
      type: "flow_error",
      step,
      field,
      message,
      ...(code !== undefined && { code }),
    });
    return { ...fallback, fields: fallbackFields(code, "url" in of ? of.url : "") };
  }

  /** Performs a document, and returns the request for the next one. */
  async #performNext(next: Request): Promise<Request | undefined> {
    this.#step++;
    if (this.#redirects >= maxRedirects) {
      throw new FlowError(
        this.#step,
        "Redirect",
        `follows ${maxRedirects} others that do nothing else`,
      );
    }
    const interrupt = new AbortController();
    const stop = () => interrupt.abort();
    this.#call.over.signal.addEventListener("abort", stop);
    this.#known.redirect = (elsewhere) => {
      this.#redirected = elsewhere;
      stop();
      this.#call.timeline.skip();
    };
    try {
      const then = await this.#performDocument(next, interrupt.signal);
      return this.#takeRedirected() ?? then;
    } catch (error) {
      const elsewhere = this.#takeRedirected();
      if (elsewhere) return elsewhere;
      throw error;
    } finally {
      this.#call.over.signal.removeEventListener("abort", stop);
    }
  }

  #takeRedirected(): Next | undefined {
    const redirected = this.#redirected;
    this.#redirected = undefined;
    return redirected;
  }

  async #performDocument(next: Request, signal: AbortSignal): Promise<Request | undefined> {
    const { url, verbs } = await this.#documentOf(next, signal);
    const context: VerbContext = {
      ...this.#side,
      known: this.#known,
      step: this.#step,
      url,
      signal,
      parts: this.#parts,
      streams: this.#streams,
    };
    this.#redirects = verbs[0]?.name === "Redirect" ? this.#redirects + 1 : 0;
    for (const [at, verb] of verbs.entries()) {
      const then = await perform(verb, context);
      const follower = verbs[at + 1]?.name ?? "";
      if (prompts.has(verb.name) && !prompts.has(follower) && !takers.has(follower)) {
        this.#call.endPrompts();
      }
      if (signal.aborted || then === "end") return;
      if (then !== "next") return then;
    }
    return;
  }

  async #documentOf(next: Request, signal: AbortSignal): Promise<Document> {
    const step = this.#step;
    if ("document" in next) {
      return { url: "", verbs: this.#read(next.document, { url: "", ms: 0 }) };
    }
    const { carrier } = this.#side;
    const fields = { ...carrier.callFields(this.#known), ...next.fields };
    const { request } = this.#parts;
    const { local } = this.#call;
    const parts = { request, cookies: this.#cookies, carrier, local, signal };
    const fetched = await fetchDocument(next.url, next.method, fields, parts);
    const { url, ms, response, body, error, cookie } = fetched;
    const status = response && { status: response.status };
    const sent = { method: next.method, fields, ...(cookie !== undefined && { cookie }) };
    const seen = { url, ms, ...status, request: sent };
    const fail = (rule: string, trouble: DocumentTrouble): never => {
      this.#call.log({ type: "flow", step, ...seen });
      throw new FlowError(step, "Url", rule, carrier.documentCodes[trouble]);
    };
    if (error !== undefined || !response || !body)
      return fail(`gave no answer: ${error}`, "request");
    if (!response.ok) return fail(`answered HTTP ${response.status}`, "request");
    const type = response.headers.get("Content-Type") ?? "";
    const reading = carrier.readingOf(type);
    if (reading === "audio") {
      this.#call.log({ type: "flow", step, ...seen });
      return { url, verbs: [element("Play", url)] };
    }
    if (!body.isWhole) return fail("answered more than 64 kB", "length");
    if (!reading) return fail(`answered the type ${type || "none"}, not text/xml`, "type");
    return { url, verbs: this.#read(new TextDecoder().decode(body.bytes), seen, reading) };
  }

  /** Reads a document, and logs it as it came. */
  #read(
    text: string,
    seen: Seen,
    reading: "markup" | "speech" = "markup",
  ): readonly MarkupElement[] {
    const step = this.#step;
    const { markup, attributes, documentCodes, unreadable } = this.#side.carrier;
    const entry = { type: "flow", step, ...seen, document: text.slice(0, maxShown) } as const;
    try {
      const rule = unreadable?.(text);
      if (rule !== undefined) throw new TypeError(rule);
      const verbs = reading === "markup" ? parseMarkup(text) : [element("Say", text.trim())];
      const unknown_fields = unknownAttributes(verbs, attributes);
      this.#call.log({ ...entry, ...(unknown_fields.length > 0 && { unknown_fields }) });
      return verbs;
    } catch (error) {
      this.#call.log(entry);
      throw new FlowError(step, `The ${markup}`, messageOf(error), documentCodes.syntax);
    }
  }
}

/** Follows the flow of an answered call. */
export const followMarkup = (known: MarkupCall, parts: FlowParts, side: FlowSide): Promise<void> =>
  new MarkupFlow(known, parts, side).follow();
