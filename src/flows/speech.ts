import { custom, type GenericSchema, optional, strictObject } from "valibot";
import { fieldsOf, isText, presence, ruleSchema } from "../lib/check.ts";
import { languageRule, numberRule } from "./prompts.ts";

/** How a `gather` takes speech. */
export interface SpeechOptions {
  /**
   * The language that is spoken: a BCP 47 tag with a region, such as `"en-GB"`.
   *
   * @defaultValue that of the `gather`; without one the service's own, `"en-US"`
   */
  readonly language?: string | undefined;
  /**
   * Words that are likely: 1 to 100 texts of 1 to 100 characters, without commas.
   *
   * @defaultValue none
   */
  readonly hints?: readonly string[] | undefined;
  /**
   * Milliseconds of silence after which the answer is complete: whole seconds, 1 000 to 10 000.
   *
   * @defaultValue 2 000
   */
  readonly end_silence_ms?: number | undefined;
}

/** What somebody has said, as the service understood it. */
export interface SpokenText {
  /** The text: whoever speaks decides on it, so check it as any input. */
  readonly text: string;
  /** From 0 to 1, where the service says it. */
  readonly confidence?: number | undefined;
}

/** The silence that ends speech by default, in milliseconds. */
export const defaultEndSilence = 2000;

const isHint = (value: unknown): boolean =>
  isText(value) && /^[^,\p{Cc}\p{Cs}\ufffe\uffff]{1,100}$/u.test(value) && !!value.trim();

/** The schema of the option `speech`. */
export const speechSchema: GenericSchema<unknown, SpeechOptions> = strictObject(
  {
    language: optional(ruleSchema<string>(languageRule)),
    hints: optional(
      custom<readonly string[]>(
        (value) =>
          Array.isArray(value) && value.length > 0 && value.length <= 100 && value.every(isHint),
        "must be 1 to 100 texts of 1 to 100 characters, without commas",
      ),
    ),
    end_silence_ms: optional(ruleSchema<number>(numberRule(1000, 10_000, 1000))),
  },
  presence,
);

/** What was said, out of a flow request; `undefined` where nothing was. */
export const spokenIn = (speech: unknown): SpokenText | undefined => {
  const { text, confidence } = fieldsOf(speech);
  if (!isText(text)) return;
  // No document could hold those.
  const clean = text.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]+/gu, " ").trim();
  const number = isText(confidence) && confidence ? Number(confidence) : confidence;
  const isKnown = typeof number === "number" && number >= 0 && number <= 1;
  return clean ? { text: clean, ...(isKnown && { confidence: number }) } : undefined;
};
