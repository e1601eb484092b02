import type { Call } from "../call.ts";
import type { FlowEntry } from "../history.ts";
import { FlowError, type FlowParts, waitUntil } from "../line.ts";
import { messageOf } from "../outgoing.ts";
import { fieldsOf, type TwilioCall } from "./call.ts";
import type { Next, Target } from "./fields.ts";
import { detectionMessage } from "./notifications.ts";
import { fetchTwiml } from "./requests.ts";
import { parseTwiml, type TwimlElement } from "./twiml.ts";
import { BackgroundStreams, type Line, perform, type Request, unknownAttributes } from "./verbs.ts";

/** What flows need beside what every flow needs. */
export type FlowSide = Pick<Line, "accountSid" | "token" | "newSid" | "notify">;

/** A document that is performed. */
interface Document {
  /** Empty for one that came with a request of the API. */
  readonly url: string;
  readonly verbs: readonly TwimlElement[];
}

/** How many documents in a row may do nothing but redirect. */
const maxRedirects = 50;

/** The most characters of a document that the history keeps. */
const maxShown = 4_096;

const element = (name: string, text: string): TwimlElement => ({
  name,
  attributes: {},
  children: [],
  text,
});

const isXml = (type: string): boolean => /^(text|application)\/(xml|html)\b|\+xml\b/i.test(type);

/** Whether a document of this type is read: TwiML, or text that is spoken. */
const isRead = (type: string): boolean => isXml(type) || /^text\/plain\b/i.test(type);

/** What the history has of a document beside its text. */
type Seen = Pick<FlowEntry, "url" | "ms" | "status" | "request">;

/** How long the detection of a machine takes, in milliseconds. */
const detectionDuration = 2_000;

/** The flow of one call. */
class TwilioFlow {
  readonly #known: TwilioCall;
  readonly #parts: FlowParts;
  readonly #side: FlowSide;
  readonly #streams: BackgroundStreams;
  /** Where the call continues, as a request of the API wants it. */
  #redirected: Next | undefined;
  #step = 0;
  /** How many documents in a row did nothing but redirect. */
  #redirects = 0;

  constructor(known: TwilioCall, parts: FlowParts, side: FlowSide) {
    this.#known = known;
    this.#parts = parts;
    this.#side = side;
    this.#streams = new BackgroundStreams(known.call);
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
      await this.#streams.stopAll();
    }
  }

  /** Finds out what answered: before the flow, or while it runs. */
  async #detect(): Promise<void> {
    const { fields } = this.#known;
    const { machineDetection, asyncMachineDetection } = fields;
    if (!machineDetection) return;
    const isMachine = this.#call.answeredBy === "machine";
    const machine = machineDetection === "Enable" ? "machine_start" : "machine_end_beep";
    const found = () => {
      this.#known.answeredBy = isMachine ? machine : "human";
    };
    if (!asyncMachineDetection) {
      await waitUntil(this.#call, this.#call.talkTime + detectionDuration);
      return found();
    }
    this.#call.timeline.after(detectionDuration, () => {
      found();
      if (asyncMachineDetection !== "nobody") this.#notify(asyncMachineDetection);
    });
  }

  #notify(target: Target): void {
    const { accountSid, token, notify } = this.#side;
    const parts = { accountSid, token };
    notify(detectionMessage(this.#known, target, detectionDuration, parts));
  }

  /** Notifies the fallback URL what failed. */
  #fallbackFrom(
    { step, field, message, code = 11_200 }: FlowError,
    fallback: Target,
    of: Request,
  ): Request {
    this.#call.log({ type: "flow_error", step, field, message, code });
    const ErrorUrl = "url" in of ? of.url : "";
    return { ...fallback, fields: { ErrorCode: String(code), ErrorUrl } };
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
    const line: Line = {
      ...this.#side,
      known: this.#known,
      step: this.#step,
      url,
      signal,
      parts: this.#parts,
      streams: this.#streams,
    };
    this.#redirects = verbs[0]?.name === "Redirect" ? this.#redirects + 1 : 0;
    for (const verb of verbs) {
      const then = await perform(verb, line);
      if (signal.aborted || then === "end") return;
      if (then !== "next") return then;
    }
    return;
  }

  async #documentOf(next: Request, signal: AbortSignal): Promise<Document> {
    const step = this.#step;
    if ("twiml" in next) {
      return { url: "", verbs: this.#read(next.twiml, "text/xml", { url: "", ms: 0 }) };
    }
    const { accountSid, token } = this.#side;
    const fields = { ...fieldsOf(this.#known, accountSid), ...next.fields };
    const { request } = this.#parts;
    const { local } = this.#call;
    const parts = { request, token: token(), local, signal };
    const fetched = await fetchTwiml(next.url, next.method, fields, parts);
    const { url, ms, response, body, error } = fetched;
    const status = response && { status: response.status };
    const seen = { url, ms, ...status, request: { method: next.method, fields } };
    const fail = (rule: string, code: number): never => {
      this.#call.log({ type: "flow", step, ...seen });
      throw new FlowError(step, "Url", rule, code);
    };
    if (error !== undefined || !response || !body) return fail(`gave no answer: ${error}`, 11_200);
    if (!response.ok) return fail(`answered HTTP ${response.status}`, 11_200);
    const type = response.headers.get("Content-Type") ?? "";
    if (/^audio\//i.test(type)) {
      this.#call.log({ type: "flow", step, ...seen });
      return { url, verbs: [element("Play", url)] };
    }
    if (!body.isWhole) return fail("answered more than 64 kB", 11_750);
    if (!isRead(type)) return fail(`answered the type ${type || "none"}, not text/xml`, 12_300);
    return { url, verbs: this.#read(new TextDecoder().decode(body.bytes), type, seen) };
  }

  /** Reads a document, and logs it as it came. */
  #read(text: string, type: string, seen: Seen): readonly TwimlElement[] {
    const step = this.#step;
    const entry = { type: "flow", step, ...seen, document: text.slice(0, maxShown) } as const;
    try {
      const verbs = isXml(type) ? parseTwiml(text) : [element("Say", text.trim())];
      const unknown_fields = unknownAttributes(verbs);
      this.#call.log({ ...entry, ...(unknown_fields.length > 0 && { unknown_fields }) });
      return verbs;
    } catch (error) {
      this.#call.log(entry);
      throw new FlowError(step, "The TwiML", messageOf(error), 12_100);
    }
  }
}

/** Follows the flow of an answered call. */
export const followTwiml = (known: TwilioCall, parts: FlowParts, side: FlowSide): Promise<void> =>
  new TwilioFlow(known, parts, side).follow();
