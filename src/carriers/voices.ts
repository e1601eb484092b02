import { custom, looseObject, optional } from "valibot";
import { languageRule } from "../flows/prompts.ts";
import { check, isRecord, isText, presence } from "../lib/check.ts";

/** The voices of a service, by the language of the texts that they speak: a BCP 47 tag as an action has it. */
export type Voices<Voice> = Readonly<Record<string, Voice>>;

/** Whether a value is the name of a voice: which there are is the carrier's own matter. */
export const isVoiceName = (value: unknown): boolean =>
  isText(value) && /^[^\s\p{C}]([^\p{C}]{0,198}[^\s\p{C}])?$/u.test(value);

/** The voice of a language, whatever the case of its tag; `undefined` where the carrier's default speaks. */
export const voiceOf = <Voice>(voices: Voices<Voice>, language: string): Voice | undefined =>
  Object.entries(voices).find(([tag]) => tag.toLowerCase() === language.toLowerCase())?.[1];

/**
 * The option `voice` of a service, and the others, unchecked: a service that only places calls has none, and carries no rule.
 *
 * @param read - returns the options; a getter of the caller's may throw in it
 * @param rule - what a voice must be, as the end of a sentence
 * @throws {BadParametersException} that names `voice`
 */
export const voicesIn = <Voice>(
  read: () => unknown,
  isVoice: (value: unknown) => boolean,
  rule: string,
): { readonly voices: Voices<Voice>; readonly others: unknown } => {
  const isVoices = (value: unknown): boolean =>
    isRecord(value) &&
    Object.entries(value).every(([tag, voice]) => !languageRule(tag) && isVoice(voice));
  const voice = custom<Voices<Voice>>(
    isVoices,
    `must be an object that has for each language tag, such as en-GB, ${rule}`,
  );
  const schema = looseObject({ voice: optional(voice) }, presence);
  const { voice: voices = {}, ...others } = check(schema, read, "options");
  return { voices, others };
};
