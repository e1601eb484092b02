import {
  array,
  type GenericSchema,
  literal,
  maxLength,
  minLength,
  optional,
  pipe,
  strictObject,
  union,
} from "valibot";
import { presence, ruleSchema } from "../lib/check.ts";
import { basicSchemas, type Hangup, type Play, type Stream, type WireDial } from "./actions.ts";
import { type ActionSchema, byAction } from "./by-action.ts";
import { gatherRules, languageRule, promptRules } from "./prompts.ts";
import { recordFields } from "./record.ts";
import { httpUrl } from "./say.ts";

/** A prompt as outdial's own interface writes it. */
export type WirePrompt =
  | { readonly text: string }
  | { readonly media_url: string }
  | { readonly pause_ms: number };

/** A `say` as outdial's own interface writes it. */
export interface WireSay {
  /** Which action it is. */
  readonly action: "say";
  /** What is spoken and played, in order. */
  readonly prompts: readonly WirePrompt[];
  /** A BCP 47 tag. */
  readonly language?: string | undefined;
  /** Where the next action is requested; without it the call ends. */
  readonly flow_url?: string | undefined;
}

/** A `gather` as outdial's own interface writes it. */
export interface WireGather {
  /** Which action it is. */
  readonly action: "gather";
  /** What is spoken and played before, in order. */
  readonly prompts: readonly WirePrompt[];
  /** A BCP 47 tag. */
  readonly language?: string | undefined;
  /** After how many keys the answer is complete: 1 to 20. */
  readonly digits?: number | undefined;
  /** The key that completes the answer. */
  readonly finish_on_key?: "#" | undefined;
  /** Milliseconds without a key until the answer is complete. */
  readonly timeout_ms?: number | undefined;
  /** Where the next action is requested, with the keys in `digits`. */
  readonly flow_url: string;
}

/** A `record` as outdial's own interface writes it. */
export interface WireRecord extends Omit<WireSay, "action"> {
  /** Which action it is. */
  readonly action: "record";
  /** Milliseconds after which the recording ends. */
  readonly max_length_ms?: number | undefined;
  /** The key that ends the recording. */
  readonly finish_on_key?: "#" | undefined;
  /** Milliseconds of silence that end the recording. */
  readonly silence_ms?: number | undefined;
  /** The name that its notification has. */
  readonly as?: string | undefined;
}

/** An action as outdial's own interface writes it. */
export type WireAction = Play | Stream | WireDial | Hangup | WireSay | WireGather | WireRecord;

const promptSchema: GenericSchema<unknown, WirePrompt> = union(
  [
    strictObject({ text: ruleSchema<string>(promptRules.text) }, presence),
    strictObject({ media_url: ruleSchema<string>(promptRules.media_url) }, presence),
    strictObject({ pause_ms: ruleSchema<number>(promptRules.pause_ms) }, presence),
  ],
  "must be { text }, { media_url } or { pause_ms }, within its rule",
);

const spoken = {
  prompts: pipe(
    array(promptSchema, "must be a list"),
    minLength(1, "must be 1 to 10 prompts"),
    maxLength(10, "must be 1 to 10 prompts"),
  ),
  language: optional(ruleSchema<string>(languageRule)),
};

/** The name of an action. */
export type ActionName = WireAction["action"];

/** The actions that every service has. */
export const basicActions: readonly ActionName[] = ["play", "stream", "dial", "hangup"];

/** All that a service may announce: the actions, and `dialed`, what came of a `dial`. */
export const announceable: readonly (ActionName | "dialed")[] = [
  ...basicActions,
  "say",
  "gather",
  "record",
  "dialed",
];

/** The schema of each action on the wire. */
export const wireActions: {
  readonly [Name in ActionName]: ActionSchema<Extract<WireAction, { action: Name }>>;
} = {
  ...basicSchemas,
  say: strictObject({ action: literal("say"), ...spoken, flow_url: optional(httpUrl) }, presence),
  gather: strictObject(
    {
      action: literal("gather"),
      ...spoken,
      digits: optional(ruleSchema<number>(gatherRules.digits)),
      finish_on_key: optional(ruleSchema<"#">(gatherRules.finish_on_key)),
      timeout_ms: optional(ruleSchema<number>(gatherRules.timeout_ms)),
      flow_url: httpUrl,
    },
    presence,
  ),
  record: strictObject(
    { action: literal("record"), ...spoken, ...recordFields, flow_url: optional(httpUrl) },
    presence,
  ),
};

/** The fields that an action has on the wire. */
export const wireFieldsOf = (name: ActionName): readonly string[] =>
  Object.keys(wireActions[name].entries);

/** The schema of the response at a flow URL of outdial's own interface. */
export const WireAction: GenericSchema<unknown, WireAction> = byAction<WireAction>(wireActions);
