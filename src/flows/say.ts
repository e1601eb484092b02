import {
  custom,
  type GenericSchema,
  literal,
  type OptionalSchema,
  optional,
  strictObject,
} from "valibot";
import { fail, isRecord, isText, presence, ruleSchema } from "../lib/check.ts";
import { urlRule } from "../lib/url.ts";
import { build } from "./by-action.ts";
import {
  gatherRules,
  languageRule,
  numberRule,
  type Prompt,
  type Prompts,
  promptsRule,
} from "./prompts.ts";
import { isAnswerName } from "./recorded.ts";
import { type SpeechOptions, speechSchema } from "./speech.ts";

/** Speaks to the person on the line. */
export interface Say<Step extends string = never> {
  /** Which action it is. */
  readonly action: "say";
  /** What is spoken and played, in order. */
  readonly prompts: readonly Prompt[];
  /**
   * The language of the texts: a BCP 47 tag, such as `"en-GB"`.
   *
   * @defaultValue left out, so the service's own
   */
  readonly language?: string | undefined;
  /** The step of `flowHandler` that decides what comes next; without one, and without `flow_url`, the call ends. */
  readonly next?: Step | undefined;
  /** The URL of the next action, instead of `next`. */
  readonly flow_url?: string | undefined;
}

/** After how many keys an answer is complete. */
export type KeyCount =
  | (1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10)
  | (11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | 20);

/** Speaks, and takes keys or speech, which interrupt the prompts. */
export interface Gather<Step extends string = never> {
  /** Which action it is. */
  readonly action: "gather";
  /** What is spoken and played before, in order. */
  readonly prompts: readonly Prompt[];
  /**
   * The language of the texts: a BCP 47 tag, such as `"en-GB"`.
   *
   * @defaultValue left out, so the service's own
   */
  readonly language?: string | undefined;
  /**
   * After how many keys the answer is complete: 1 to 20.
   *
   * @defaultValue 20, with `finish_on_key`; one of the two, or `speech`, is required
   */
  readonly digits?: KeyCount | undefined;
  /** The key that completes the answer, and isn't part of it: `"#"`. */
  readonly finish_on_key?: "#" | undefined;
  /**
   * Takes speech, also beside keys: what comes first is the answer. Carriers have it; outdial's own interface doesn't.
   *
   * @defaultValue keys alone
   */
  readonly speech?: SpeechOptions | undefined;
  /**
   * Milliseconds without input until the answer is complete, from the end of the prompts and between keys: whole
   * seconds, 1 000 to 10 000.
   *
   * @defaultValue 5 000
   */
  readonly timeout_ms?: number | undefined;
  /** The name of the answer, in `answers` and in the results of a list: `^[a-z]\w{0,31}$`. */
  readonly as?: string | undefined;
  /** The step for each answer. Any other answer is none: the question is asked again. */
  readonly on?: Readonly<Record<string, Step>> | undefined;
  /**
   * How often the question is asked: 1 to 5. It is asked again, by running the step that asked, after silence and
   * after keys that `on` doesn't name.
   *
   * @defaultValue 1
   */
  readonly tries?: 1 | 2 | 3 | 4 | 5 | undefined;
  /** The step for every answer, instead of `on`; with both, that for speech. */
  readonly next?: Step | undefined;
  /** The step after the last try; without one the call ends. */
  readonly otherwise?: Step | undefined;
  /** The URL of the next action, instead of steps: its request has the keys. */
  readonly flow_url?: string | undefined;
}

interface SpokenFields<Step extends string> {
  readonly prompts: GenericSchema<unknown, readonly Prompt[]>;
  readonly language: OptionalField<string>;
  readonly next: OptionalField<Step>;
  readonly flow_url: OptionalField<string>;
}

/** The schema of a field that may be left out. */
export type OptionalField<T> = OptionalSchema<GenericSchema<unknown, T>, undefined>;

/** The schema of an http URL. */
export const httpUrl: GenericSchema<unknown, string> = ruleSchema<string>((value) =>
  urlRule(value),
);

/** The name of a step. */
export const stepName = <Step extends string>(): GenericSchema<unknown, Step> =>
  custom<Step>((value) => isText(value) && value !== "", "must be the name of a step");

/** What each action that speaks has, by the names of its steps. */
export const spoken = <Step extends string>(): SpokenFields<Step> => ({
  prompts: ruleSchema<readonly Prompt[]>(promptsRule),
  language: optional(ruleSchema<string>(languageRule)),
  next: optional(stepName<Step>()),
  flow_url: optional(httpUrl),
});

/** Columns of a list's results, which no answer may be named as. */
const columns =
  /^(to_number|id|disposition|reason|attempts|call_id|started_at|ended_at|duration|answered_by)$/;

const isAnswers = (on: unknown): boolean =>
  isRecord(on) &&
  Object.keys(on).length > 0 &&
  Object.entries(on).every(([keys, step]) => /^[\d*#]{1,20}$/.test(keys) && isText(step) && step);

/** The schema of a `say`, by the names of its steps. */
const sayOf = <Step extends string>() =>
  strictObject({ action: literal("say"), ...spoken<Step>() }, presence);

/** The schema of a `gather`, by the names of its steps. */
const gatherOf = <Step extends string>() =>
  strictObject(
    {
      action: literal("gather"),
      ...spoken<Step>(),
      digits: optional(ruleSchema<KeyCount>(gatherRules.digits)),
      finish_on_key: optional(ruleSchema<"#">(gatherRules.finish_on_key)),
      timeout_ms: optional(ruleSchema<number>(gatherRules.timeout_ms)),
      speech: optional(speechSchema),
      as: optional(
        custom<string>(
          (value) => isAnswerName(value) && !columns.test(value),
          "must match [a-z]\\w{0,31}, and be no column of the results",
        ),
      ),
      on: optional(
        custom<Readonly<Record<string, Step>>>(
          isAnswers,
          "must name a step for each answer of 1 to 20 keys",
        ),
      ),
      tries: optional(ruleSchema<NonNullable<Gather["tries"]>>(numberRule(1, 5))),
      otherwise: optional(stepName<Step>()),
    },
    presence,
  );

/** The schema of a `say` with any steps. */
export const saySchema: GenericSchema<unknown, Say<string>> = sayOf<string>();

/** The schema of a `gather` with any steps. */
export const gatherSchema: GenericSchema<unknown, Gather<string>> = gatherOf<string>();

/** @throws {BadParametersException} for an action that continues at two places */
export const checkNext = ({ next, flow_url }: Pick<Say<string>, "next" | "flow_url">): void => {
  if (next && flow_url) fail("flow_url", "must be left out with next");
};

/**
 * Checks what no single field says: where an action continues, and when an answer is complete.
 *
 * @throws {BadParametersException} that names a field
 */
export const checkSpoken = (action: Say<string> | Gather<string>): void => {
  const {
    on,
    as,
    otherwise,
    tries,
    next,
    flow_url,
    digits,
    finish_on_key,
    speech,
  }: Partial<Gather<string>> = { ...action, action: "gather" };
  if (next && on && !speech) fail("next", "must be left out with on");
  if (flow_url && (next || on || as || otherwise || tries))
    fail("flow_url", "must be left out with steps and as");
  if (action.action === "say") return;
  if (!(on || next || as || flow_url)) fail("on", "is missing, as are next, as and flow_url");
  const takesKeys = digits || finish_on_key;
  if (!(takesKeys || speech)) fail("digits", "is missing, as are finish_on_key and speech");
  if (on && !takesKeys) fail("on", "names keys, which need digits or finish_on_key");
  if (on && speech && !next) fail("next", "is missing, the step for speech beside on");
  for (const keys of Object.keys(on ?? {})) {
    if (keys.length > (digits ?? 20) || (finish_on_key && keys.includes("#")))
      fail("on", "names keys that digits and finish_on_key exclude");
  }
};

/** The options of `say`. */
export type SayOptions<Step extends string = never> = Omit<Say<Step>, "action" | "prompts">;

/** The options of `gather`. */
export type GatherOptions<Step extends string = never> = Omit<Gather<Step>, "action" | "prompts">;

const spokenBy = <Built extends Say<string> | Gather<string>>(
  schema: GenericSchema<unknown, Built>,
  fields: () => object,
): Built => {
  const action = build(schema, fields);
  checkSpoken(action);
  return action;
};

/**
 * Speaks texts, plays audio, and pauses. A text is spoken as it is: no markup and no template in it has a meaning.
 *
 * @param prompts - a text of 1 to 1 500 characters, of which Twilio speaks 4 500, URL-encoded (750 Cyrillic letters, 375 emoji);
 * `audio(url)`, `pause(ms)` of 1 000 to 180 000 ms in whole seconds; or a list of 1 to 10 of them
 * @param options - `language`, and what comes next: `next`, a step of `flowHandler`, or `flow_url`
 * @returns the action; without a step or URL after it the call ends
 * @throws {BadParametersException} when a field breaks its rule
 *
 * @example Remind somebody of an appointment
 * ```ts
 * import { audio, pause, say } from "outdial/flows";
 *
 * const action = say([audio("https://app.test/chime.mp3"), pause(1_000), "See you at nine."], {
 *   language: "en-GB",
 * });
 * console.log(action.prompts.length); // 3
 * ```
 * @see docs/flows.md
 */
export const say = <const Step extends string = never>(
  prompts: Prompts,
  options?: SayOptions<Step>,
): Say<NoInfer<Step>> =>
  spokenBy(sayOf<Step>(), () => ({ action: "say", prompts: [prompts].flat(), ...options }));

/**
 * Asks, and takes keys or speech. With `on`, keys that it doesn't name, and silence, are no answer: the step that asked
 * runs again, until `tries` are over; then `otherwise` runs. With `next` every key is an answer, and all that is said.
 * Steps need the option `secret` of `flowHandler`.
 *
 * @param prompts - a text of 1 to 1 500 characters, of which Twilio speaks 4 500, URL-encoded (750 Cyrillic letters, 375 emoji);
 * `audio(url)`, `pause(ms)` of 1 000 to 180 000 ms in whole seconds; or a list of 1 to 10 of them
 * @param options - `digits` (1 to 20), `finish_on_key` (`"#"`) or `speech`, `timeout_ms` (5 000), `as`, `on` or `next`,
 * `tries` (1), `otherwise`, `language`; or `flow_url`, whose request has the keys
 * @returns the action
 * @throws {BadParametersException} when a field breaks its rule
 *
 * @example Ask for a confirmation
 * ```ts
 * import { gather } from "outdial/flows";
 *
 * const action = gather("Press 1 to confirm, 2 to cancel.", {
 *   digits: 1,
 *   as: "reply",
 *   on: { 1: "confirm", 2: "cancel" },
 *   tries: 3,
 *   otherwise: "bye",
 * });
 * console.log(action.on?.["1"]); // confirm
 * ```
 * @see docs/flows.md
 */
export const gather = <const Step extends string = never>(
  prompts: Prompts,
  options: GatherOptions<Step>,
): Gather<NoInfer<Step>> =>
  spokenBy(gatherOf<Step>(), () => ({ action: "gather", prompts: [prompts].flat(), ...options }));
