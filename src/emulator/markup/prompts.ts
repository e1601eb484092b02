import { addKeyTone } from "../callee.ts";
import { endlessLoops, mediaDuration, playTone, speechDuration, waitUntil } from "../line.ts";
import { notEmulated } from "./absent.ts";
import { begin, fail, numberOf, resolve, type VerbContext } from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { formRequest } from "./requests.ts";

const loops = (element: MarkupElement, context: VerbContext): number =>
  numberOf(element, "loop", context, 1) || endlessLoops;

const sound = async (
  element: MarkupElement,
  context: VerbContext,
  duration: number,
  continues = () => !context.signal.aborted,
): Promise<void> => {
  begin(context, element, duration);
  await playTone(context.known.call, duration, continues);
};

/** Milliseconds of each digit that is played. */
const digitDuration = 500;

/** How long a Say, a Play or a Pause takes, in milliseconds. */
const lengthOf = async (element: MarkupElement, context: VerbContext): Promise<number> => {
  const { name, text, attributes } = element;
  if (name === "Say") {
    const rule = context.carrier.spokenRule?.(text);
    if (rule !== undefined) fail(context, name, rule, "text");
    return loops(element, context) * speechDuration(text);
  }
  if (name === "Pause") return numberOf(element, "length", context, 1) * 1_000;
  if (attributes.digits) return attributes.digits.length * digitDuration;
  if (attributes.mediaStorage === "true") {
    return notEmulated(context, "Play.mediaStorage");
  }
  const { step, signal, known, parts, carrier } = context;
  const { url, headers, fields, body } = formRequest(resolve(context, "Play", text), "GET", {});
  const signature = carrier.alsoSigns.has("media") && (await carrier.sign({ url, fields, body }));
  const { media: code } = carrier.codes;
  const source = { step, field: "Play", url, headers: { ...headers, ...signature }, signal, code };
  const once = await mediaDuration(known.call, source, parts.request);
  return loops(element, context) * once;
};

/** Sounds keys, which the callee hears; `w` is a pause. */
const pressKeys = (keys: string, { known: { call } }: VerbContext): void => {
  const from = call.talkTime;
  for (const [at, key] of [...keys].entries()) {
    if (/[\d*#]/.test(key)) addKeyTone(call.recording.media, key, from + at * digitDuration);
  }
};

/** Performs a Say, a Play or a Pause. */
export const prompt = async (
  element: MarkupElement,
  context: VerbContext,
  continues: () => boolean = () => !context.signal.aborted,
): Promise<void> => {
  const duration = await lengthOf(element, context);
  if (!continues()) return;
  const { digits } = element.attributes;
  if (element.name === "Play" && digits) pressKeys(digits, context);
  else if (element.name !== "Pause") return sound(element, context, duration, continues);
  begin(context, element, duration);
  const { call } = context.known;
  await waitUntil(call, call.talkTime + duration, continues);
};
