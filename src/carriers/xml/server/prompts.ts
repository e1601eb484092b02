import { endlessLoops, type Prompts } from "../../../performer/instructions.ts";
import type { Part } from "../../../performer/line.ts";
import { beginning, fail, numberOf, resolve, type Verb, type VerbContext } from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { notEmulated } from "./not-emulated.ts";
import { formRequest } from "./requests.ts";

/** The verbs that speak before keys are taken. */
const prompts: ReadonlySet<string> = new Set(["Say", "Play", "Pause"]);

/** Whether a verb speaks before keys are taken. */
export const isPrompt = (verb: string): boolean => prompts.has(verb);

/** The verbs that end the prompts before them, and their own, themselves. */
const takers: ReadonlySet<string> = new Set(["Gather", "Record"]);

/** Milliseconds of each digit that is played. */
const digitDuration = 500;

/** Where the audio of a Play is. */
const mediaOf = (text: string, context: VerbContext): Part => {
  const { step, carrier } = context;
  const { url, headers, fields, body } = formRequest(resolve(context, "Play", text), "GET", {});
  const signed = async () => ({ ...headers, ...(await carrier.sign({ url, fields, body })) });
  return {
    type: "media",
    source: {
      step,
      field: "Play",
      url,
      headers: carrier.alsoSigns.has("media") ? signed : () => headers,
      code: carrier.codes.media,
    },
  };
};

const partOf = ({ name, text, attributes }: MarkupElement, context: VerbContext): Part => {
  if (name === "Say") {
    const rule = context.carrier.spokenRule?.(text);
    if (rule !== undefined) return fail(context, name, rule, "text");
    return { type: "text", text, language: attributes.language };
  }
  const { digits, mediaStorage } = attributes;
  if (digits) return { type: "keys", keys: digits, keyMs: digitDuration };
  if (mediaStorage === "true") return notEmulated(context, "Play.mediaStorage");
  return mediaOf(text, context);
};

/** What a Say, a Play or a Pause plays. */
export const promptsOf = (element: MarkupElement, context: VerbContext): Prompts => {
  const step = beginning(element, context);
  if (element.name === "Pause") {
    const ms = numberOf(element, "length", context, 1) * 1_000;
    return { step, parts: [{ type: "pause", ms }] };
  }
  const times = numberOf(element, "loop", context, 1) || endlessLoops;
  return { step, parts: [partOf(element, context)], times };
};

/** A Say, a Play or a Pause that is in no Gather. */
export const prompt: Verb = (element, context, follower = "") => ({
  type: "play",
  ...promptsOf(element, context),
  endsPrompts: !isPrompt(follower) && !takers.has(follower),
});
