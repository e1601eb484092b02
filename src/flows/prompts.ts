import { fail, fieldsOf, isText } from "../lib/check.ts";
import { urlRule } from "../lib/url.ts";

/** Audio that is played as a prompt. */
export interface AudioPrompt {
  /** What is played: an https URL; http on loopback, for work on one machine. */
  readonly media_url: string;
}

/** Silence between two prompts. */
export interface PausePrompt {
  /** Milliseconds, whole seconds: 1 000 to 180 000. */
  readonly pause_ms: number;
}

/** What is spoken or played: a text of 1 to 1 500 characters, audio, or a pause. */
export type Prompt = string | AudioPrompt | PausePrompt;

/** A text of a prompt as outdial's own interface writes it: every prompt is an object there. */
export const wirePrompt = (
  prompt: Prompt,
): AudioPrompt | PausePrompt | { readonly text: string } =>
  isText(prompt) ? { text: prompt } : prompt;

/** One prompt, or a list of 1 to 10. */
export type Prompts = Prompt | readonly Prompt[];

/** Control characters but tabs and line breaks. */
const control = /[^\P{Cc}\t\n\r]/u;

/** What else XML 1.0 can't hold. */
const notXml = /[\p{Cs}\ufffe\uffff]/u;

/** The most characters of a text: Vonage takes no more. */
const maxText = 1500;

/** The rule that a spoken text breaks. */
const textRule = (value: unknown): string | undefined => {
  if (!isText(value) || !value.trim() || value.length > maxText)
    return `must be a text of 1 to ${maxText} characters`;
  return control.test(value) ? "must be without control characters" : undefined;
};

/**
 * The rule of a number from `least` to `most`.
 *
 * @param step - milliseconds of which it is a multiple; a whole number without
 */
export const numberRule =
  (least: number, most: number, step = 1) =>
  (value: unknown): string | undefined => {
    const number = Number.isInteger(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most && number % step === 0) return;
    return step > 1
      ? `must be ${least} to ${most} ms, in steps of ${step}`
      : `must be a whole number from ${least} to ${most}`;
  };

/** The rule that a language breaks. */
export const languageRule = (value: unknown): string | undefined =>
  isText(value) && /^[a-z]{2,3}(-[a-z\d]{2,8}){0,3}$/i.test(value)
    ? undefined
    : "must be a language tag, such as en-GB";

/** Rules of a `gather`, on the own interface too. */
export const gatherRules: Readonly<
  Record<"digits" | "finish_on_key" | "timeout_ms", (value: unknown) => string | undefined>
> = {
  digits: numberRule(1, 20),
  finish_on_key: (value) => (value === "#" ? undefined : 'must be "#"'),
  timeout_ms: numberRule(1000, 10_000, 1000),
};

/** The rule of each kind of prompt, by its field on the own interface, where a text is a field too. */
export const promptRules: Readonly<
  Record<"text" | "media_url" | "pause_ms", (value: unknown) => string | undefined>
> = {
  text: textRule,
  media_url: (value) => urlRule(value),
  pause_ms: numberRule(1000, 180_000, 1000),
};

/** The rule that one prompt breaks. */
const promptRule = (prompt: unknown): string | undefined => {
  if (isText(prompt)) {
    // Only Vonage would read it as SSML, perhaps also after what is invisible.
    if (/^[\s\p{Cf}]*<speak/iu.test(prompt)) return "must not begin with <speak";
    return notXml.test(prompt) ? "must be without control characters" : textRule(prompt);
  }
  const [[name, value] = [], ...others] = Object.entries(fieldsOf(prompt));
  if (others.length || (name !== "media_url" && name !== "pause_ms"))
    return "must be a text, audio(url) or pause(ms)";
  const rule = promptRules[name](value);
  return rule && `${name} ${rule}`;
};

/** The rule that a list of prompts breaks. */
export const promptsRule = (prompts: unknown): string | undefined => {
  if (!Array.isArray(prompts) || prompts.length < 1 || prompts.length > 10)
    return "must be 1 to 10 prompts";
  for (const [at, prompt] of prompts.entries()) {
    const rule = promptRule(prompt);
    if (rule) return `number ${at + 1} ${rule}`;
  }
  return;
};

/**
 * Audio as a prompt of `say`, `gather` and `record`.
 *
 * @param media_url - what is played: an https URL of at most 2,083 characters; http on loopback
 * @returns the prompt
 * @throws {BadParametersException} when the URL breaks its rule
 *
 * @example A recorded question
 * ```ts
 * import { audio, gather } from "outdial/flows";
 *
 * const question = gather(audio("https://app.test/question.mp3"), { digits: 1, as: "reply" });
 * console.log(question.prompts.length); // 1
 * ```
 * @see docs/flows.md
 */
export const audio = (media_url: string): AudioPrompt => {
  const rule = promptRules.media_url(media_url);
  return rule ? fail("media_url", rule) : { media_url };
};

/** The most letters and digits that are spelled: each is spoken as a word, and a text has 1 500 characters. */
const maxSpelled = 100;

/**
 * Letters and digits as a prompt of `say`, `gather` and `record`, spoken one by one: `"4, 0, 2"`, in the language of the
 * action, by any voice. Spaces and dashes in it are left out.
 *
 * @param text - 1 to 100 letters and digits
 * @returns the prompt, a text
 * @throws {BadParametersException} when the text breaks its rule
 *
 * @example Speak a code twice
 * ```ts
 * import { pause, say, spell } from "outdial/flows";
 *
 * const code = spell("402913");
 * const action = say(["Your code is", code, pause(1_000), "Again:", code]);
 * console.log(action.prompts[1]); // 4, 0, 2, 9, 1, 3
 * ```
 * @see docs/flows.md
 */
export const spell = (text: string): string => {
  const characters = isText(text) ? [...text.replace(/[\s-]/g, "")] : [];
  const isSpelled =
    characters.length > 0 &&
    characters.length <= maxSpelled &&
    characters.every((one) => /^[\p{L}\p{N}]$/u.test(one));
  return isSpelled
    ? characters.join(", ")
    : fail("text", `must be 1 to ${maxSpelled} letters and digits`);
};

/**
 * Silence as a prompt of `say`, `gather` and `record`.
 *
 * @param pause_ms - milliseconds, whole seconds: 1 000 to 180 000
 * @returns the prompt
 * @throws {BadParametersException} when the number breaks its rule
 *
 * @example A second of silence before an answering machine is spoken to
 * ```ts
 * import { pause, say } from "outdial/flows";
 *
 * const message = say([pause(1_000), "Please call us back."]);
 * console.log(JSON.stringify(message.prompts)); // [{"pause_ms":1000},"Please call us back."]
 * ```
 * @see docs/flows.md
 */
export const pause = (pause_ms: number): PausePrompt => {
  const rule = promptRules.pause_ms(pause_ms);
  return rule ? fail("pause_ms", rule) : { pause_ms };
};
