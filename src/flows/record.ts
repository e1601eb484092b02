import { type GenericSchema, literal, optional, strictObject } from "valibot";
import { presence, ruleSchema } from "../lib/check.ts";
import { build } from "./by-action.ts";
import { gatherRules, numberRule, type Prompts } from "./prompts.ts";
import { isAnswerName } from "./recorded.ts";
import { checkNext, type OptionalField, type Say, spoken } from "./say.ts";

/** Speaks, and records what the person on the line says, after a beep. */
export interface RecordAction<Step extends string = never> extends Omit<Say<Step>, "action"> {
  /** Which action it is. */
  readonly action: "record";
  /**
   * Milliseconds after which the recording ends: whole seconds, 3 000 to 3 600 000.
   *
   * @defaultValue 60 000
   */
  readonly max_length_ms?: number | undefined;
  /** The key that ends the recording: `"#"`. Without it no key does. */
  readonly finish_on_key?: "#" | undefined;
  /**
   * Milliseconds of silence that end the recording: whole seconds, 3 000 to 10 000. Telnyx charges for it.
   *
   * @defaultValue left out, so the service's own: 5 000 with Twilio, else none
   */
  readonly silence_ms?: number | undefined;
  /** The name of the recording, for `onRecording`: `^[a-z]\w{0,31}$`. */
  readonly as?: string | undefined;
}

/** Milliseconds after which a recording ends by default. */
export const defaultMaxLength = 60_000;

/** Rules of a `record`, on the own interface too. */
const recordRules: Readonly<
  Record<
    "max_length_ms" | "finish_on_key" | "silence_ms" | "as",
    (value: unknown) => string | undefined
  >
> = {
  max_length_ms: numberRule(3000, 3_600_000, 1000),
  finish_on_key: gatherRules.finish_on_key,
  silence_ms: numberRule(3000, 10_000, 1000),
  as: (value) => (isAnswerName(value) ? undefined : "must match [a-z]\\w{0,31}"),
};

/** What a `record` has beside its prompts, on the own interface too. */
export const recordFields: {
  readonly max_length_ms: OptionalField<number>;
  readonly finish_on_key: OptionalField<"#">;
  readonly silence_ms: OptionalField<number>;
  readonly as: OptionalField<string>;
} = {
  max_length_ms: optional(ruleSchema<number>(recordRules.max_length_ms)),
  finish_on_key: optional(ruleSchema<"#">(recordRules.finish_on_key)),
  silence_ms: optional(ruleSchema<number>(recordRules.silence_ms)),
  as: optional(ruleSchema<string>(recordRules.as)),
};

const recordOf = <Step extends string>() =>
  strictObject({ action: literal("record"), ...spoken<Step>(), ...recordFields }, presence);

/** The schema of a `record` with any steps. */
export const recordSchema: GenericSchema<unknown, RecordAction<string>> = recordOf<string>();

/**
 * Asks for words, and records them after a beep. The flow goes on at `next` at once, or the call ends; the recording comes to
 * `onRecording` of `flowHandler` when the service has it. Nothing is transcribed. It needs the option `secret` of
 * `flowHandler`.
 *
 * @param prompts - a text of 1 to 1 500 characters, of which Twilio speaks 4 500, URL-encoded (750 Cyrillic letters, 375 emoji);
 * `audio(url)`, `pause(ms)` of 1 000 to 180 000 ms in whole seconds; or a list of 1 to 10 of them
 * @param options - `max_length_ms` (60 000), `finish_on_key` (`"#"`), `silence_ms`, `as`, `language`, and what comes next:
 * `next`, a step of `flowHandler`, or `flow_url`
 * @returns the action
 * @throws {BadParametersException} when a field breaks its rule
 *
 * @example An answer in words
 * ```ts
 * import { record } from "outdial/flows";
 *
 * const action = record("Tell us why, then press hash.", {
 *   max_length_ms: 60_000,
 *   finish_on_key: "#",
 *   as: "why",
 *   next: "thanks",
 * });
 * console.log(action.as); // why
 * ```
 * @see docs/flows.md
 */
export const record = <const Step extends string = never>(
  prompts: Prompts,
  options?: Omit<RecordAction<Step>, "action" | "prompts">,
): RecordAction<NoInfer<Step>> => {
  const action = build(recordOf<Step>(), () => ({
    ...{ action: "record", prompts: [prompts].flat() },
    ...options,
  }));
  checkNext(action);
  return action;
};
