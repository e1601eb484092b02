import type { Call } from "../call.ts";
import type { Timeline } from "../clock.ts";
import { FlowError } from "../line.ts";
import { isAllowed, messageOf } from "../outgoing.ts";
import { runStream } from "../stream.ts";
import { notEmulated } from "./absent.ts";
import {
  actionOf,
  attributeOf,
  begin,
  fail,
  methodOf,
  resolve,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import type { StreamPlan } from "./media.ts";
import { type StreamEvent, streamMessage } from "./notifications.ts";

/** How one stream is run. */
interface Running {
  readonly element: MarkupElement;
  readonly verb: "Connect" | "Start";
  readonly signal: AbortSignal;
  /** The time of a stream beside the flow. */
  readonly timeline?: Timeline;
}

/** The URL of a media socket. */
const socketUrl = (given: string, context: VerbContext): string => {
  const isAbsolute = URL.canParse(given) && /^wss?:/i.test(given);
  if (!isAbsolute) return fail(context, "Stream.url", "must be wss", "socket url");
  const url = new URL(given);
  url.hash = "";
  // The application then needs parameters instead.
  if (context.carrier.dropsQuery) url.search = "";
  if (isAllowed(url.href.replace(/^ws/, "http"), context.known.call.local)) return url.href;
  return fail(context, "Stream.url", "must be wss", "socket url");
};

const planOf = ({ element, verb }: Running, context: VerbContext): StreamPlan => {
  const plan = context.carrier.planStream(element.attributes, verb);
  if ("sides" in plan) return plan;
  return fail(context, `Stream.${plan.attribute}`, plan.rule, plan.trouble);
};

/** Connects the call to a media socket until either side ends it. */
const runSocket = async (context: VerbContext, running: Running): Promise<void> => {
  const { element, signal, timeline } = running;
  const { known, step, parts, carrier, notify } = context;
  const { call } = known;
  const { url: given = "", name, statusCallback } = element.attributes;
  const plan = planOf(running, context);
  const url = socketUrl(given, context);
  const streamSid = carrier.newSid("stream", call.timeline.now());
  const parameters = Object.fromEntries(
    element.children.map(({ attributes }) => [attributes.name ?? "", attributes.value ?? ""]),
  );
  const codec = carrier.openStream(known, { ...plan, streamSid, parameters });
  const report = (event: StreamEvent, error?: string) => {
    if (!statusCallback) return;
    const method = methodOf(attributeOf(element, "statusCallbackMethod", context));
    const receiver = { url: resolve(context, "Stream.statusCallback", statusCallback), method };
    notify(streamMessage(known, receiver, { streamSid, name, event, error }, carrier));
  };
  const onOpen = () => {
    begin(context, element);
    call.keyListeners.add(codec.press);
    report("started");
    return codec;
  };
  const isSigned = carrier.alsoSigns.has("socket");
  const headers = isSigned ? await carrier.sign({ url, fields: {}, body: "" }) : undefined;
  const socket = { step, field: "Stream.url", url, headers, code: carrier.codes.socket };
  try {
    await runStream(call, { ...socket, record: true, signal, timeline, onOpen }, parts);
    report("stopped");
  } catch (error) {
    report("failed", messageOf(error));
    throw error;
  } finally {
    call.keyListeners.delete(codec.press);
  }
};

/** The one noun of a verb, which must be a Stream. */
const streamIn = (element: MarkupElement, context: VerbContext): MarkupElement => {
  const [noun] = element.children;
  if (noun?.name === "Stream") return noun;
  if (noun) return notEmulated(context, `${element.name}.${noun.name}`);
  return fail(context, `${element.name}.Stream`, "is missing");
};

/** Connects a stream, and waits until it has ended. */
export const connect: Verb = async (element, context) => {
  const stream = streamIn(element, context);
  await runSocket(context, { element: stream, verb: "Connect", signal: context.signal });
  return actionOf(element, context, {}) ?? "next";
};

/** The streams of a call that run beside its flow. */
export class BackgroundStreams {
  readonly #call: Call;
  readonly #running = new Map<
    string,
    { readonly stop: () => void; readonly done: Promise<void> }
  >();
  #count = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Runs a stream until it is stopped, the application ends it, or the call is over. */
  start(
    name: string | undefined,
    run: (signal: AbortSignal, timeline: Timeline) => Promise<void>,
  ): void {
    const call = this.#call;
    const ending = new AbortController();
    const timeline = call.timeline.fork();
    const stop = () => {
      ending.abort();
      timeline.stop();
    };
    call.over.signal.addEventListener("abort", stop);
    const done = timeline
      .run(() => run(ending.signal, timeline))
      .catch((error) => {
        if (!(error instanceof FlowError) || ending.signal.aborted) return;
        const { step, field, message, code } = error;
        call.log({ type: "flow_error", step, field, message, ...(code !== undefined && { code }) });
      });
    this.#running.set(name ?? `unnamed ${++this.#count}`, { stop, done });
  }

  /** Ends the stream with a name; all streams without one. */
  stop(name: string | undefined): void {
    const named = name === undefined ? [...this.#running.values()] : [this.#running.get(name)];
    for (const running of named) running?.stop();
  }

  /** Ends all streams, and waits for that. */
  async stopAll(): Promise<void> {
    this.stop(undefined);
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }
}

/** Starts a stream beside the flow. */
export const start: Verb = async (element, context) => {
  const stream = streamIn(element, context);
  context.streams.start(stream.attributes.name, (signal, timeline) =>
    runSocket(context, { element: stream, verb: "Start", signal, timeline }),
  );
  return "next";
};

/** Ends streams beside the flow. */
export const stop: Verb = async (element, context) => {
  const { name } = streamIn(element, context).attributes;
  begin(context, element);
  context.streams.stop(name);
  return "next";
};
