import type { Stream } from "../../../performer/instructions.ts";
import type { MediaSocket } from "../../../performer/media-socket.ts";
import { isSocketAllowed } from "../../../server/outgoing.ts";
import {
  actionOf,
  attributeOf,
  beginning,
  fail,
  methodOf,
  notEmulated,
  type Request,
  requested,
  resolve,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { type StreamEvent, streamMessage } from "./notifications.ts";

/** The URL of a media socket. */
const socketUrl = (given: string, context: VerbContext): string => {
  const isAbsolute = URL.canParse(given) && /^wss?:/i.test(given);
  if (!isAbsolute) return fail(context, "Stream.url", "must be wss", "socket url");
  const url = new URL(given);
  url.hash = "";
  // The application then needs parameters instead.
  if (context.carrier.dropsQuery) url.search = "";
  if (isSocketAllowed(url.href, context.call.served.reach)) return url.href;
  return fail(context, "Stream.url", "must be wss", "socket url");
};

/** Reports what becomes of a stream, if the application wants to know. */
type Report = (event: StreamEvent, error?: string) => void;

const reporter = (element: MarkupElement, context: VerbContext, streamSid: string): Report => {
  const { call, carrier, notify } = context;
  const { name, statusCallback } = element.attributes;
  return (event, error) => {
    if (!statusCallback) return;
    const method = methodOf(attributeOf(element, "statusCallbackMethod", context));
    const receiver = { url: resolve(context, "Stream.statusCallback", statusCallback), method };
    notify(streamMessage(call, receiver, { streamSid, name, event, error }, carrier));
  };
};

/** Connects the call to a media socket until either side ends it. */
const streamOf = (
  element: MarkupElement,
  verb: "Connect" | "Start",
  context: VerbContext,
): Stream<Request> => {
  const { call, step, carrier } = context;
  const streamSid = carrier.newSid("stream", call.served.timeline.now());
  const report = reporter(element, context, streamSid);
  const open = async (): Promise<MediaSocket> => {
    const plan = carrier.planStream(element.attributes, verb);
    if (!("sides" in plan)) {
      return fail(context, `Stream.${plan.attribute}`, plan.rule, plan.trouble);
    }
    const url = socketUrl(element.attributes.url ?? "", context);
    const parameters = Object.fromEntries(
      element.children.map(({ attributes }) => [attributes.name ?? "", attributes.value ?? ""]),
    );
    const isSigned = carrier.alsoSigns.has("socket");
    return {
      step,
      field: "Stream.url",
      url,
      headers: isSigned ? await carrier.sign({ url, fields: {}, body: "" }) : undefined,
      code: carrier.codes.socket,
      record: true,
      onOpen: () => {
        report("started");
        return carrier.openStream(call, { ...plan, streamSid, parameters });
      },
    };
  };
  return {
    type: "stream",
    step: beginning(element, context),
    open,
    onEnd: (error) => (error ? report("failed", error.message) : report("stopped")),
  };
};

/** The one noun of a verb, which must be a Stream. */
const streamIn = (element: MarkupElement, context: VerbContext): MarkupElement => {
  const [noun] = element.children;
  if (noun?.name === "Stream") return noun;
  if (noun) return notEmulated(context, `${element.name}.${noun.name}`);
  return fail(context, `${element.name}.Stream`, "is missing");
};

/** Connects a stream, and waits until it has ended. */
export const connect: Verb = (element, context) => {
  const stream = streamOf(streamIn(element, context), "Connect", context);
  const next: Stream<Request>["next"] = (error) => {
    if (error) throw error;
    return requested(actionOf(element, context, {}));
  };
  return { ...stream, next };
};

/** Starts a stream beside the flow. */
export const start: Verb = (element, context) => {
  const stream = streamIn(element, context);
  return { ...streamOf(stream, "Start", context), beside: { name: stream.attributes.name } };
};

/** Ends streams beside the flow. */
export const stop: Verb = (element, context) => {
  const { name } = streamIn(element, context).attributes;
  return { type: "stop streams", step: beginning(element, context), name };
};
