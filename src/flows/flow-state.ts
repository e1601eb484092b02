import type { AnsweredBy, OpenUnion } from "../callbacks/event.ts";
import type { Context } from "../callbacks/signed-url.ts";
import type { Action, AnyAction } from "./actions.ts";
import type { CalledContact, ScriptCampaign } from "./contact.ts";
import type { AfterDial, Dialed } from "./dialed.ts";
import type { RecordingInput } from "./recorded.ts";
import type { FlowRequest } from "./request.ts";
import type { Gather } from "./say.ts";
import type { SpokenText } from "./speech.ts";
import type { FlowInput } from "./webhooks.ts";

/** What a step gets: the call, and what has come of it so far. */
export interface StepInput {
  /** The call that was answered, or has come to its next step. */
  readonly call: FlowRequest;
  /** The context of the signed `flow_url`; `{}` when none was signed, or no `secret` was given. */
  readonly context: Context;
  /** The variables of a list's contact, out of the context; `{}` without a list. */
  readonly variables: Readonly<Record<string, string>>;
  /** The keys that were pressed; `""` when none were. */
  readonly digits: string;
  /** What was said, where a `gather` takes speech; absent when nothing was, or keys came first. */
  readonly speech?: SpokenText | undefined;
  /** Who is called, where `flowHandler` has the campaign of the call. */
  readonly contact?: CalledContact | undefined;
  /** The campaign of the call, where `flowHandler` has it. */
  readonly campaign?: ScriptCampaign | undefined;
  /** What came of a `dial`, in the step that follows it. */
  readonly dialed?: Dialed | undefined;
  /** How often this step has asked, with this time: 1 at first. */
  readonly attempt: number;
  /**
   * The answers that have a name (`as`), by it: keys, or the beginning of what was said, 64 bytes of UTF-8 as JSON: 64
   * Latin letters, 32 Cyrillic ones, 21 characters of Japanese or Chinese, 16 emoji. In later steps still less, where all
   * answers together don't fit into a URL.
   */
  readonly answers: Readonly<Record<string, string>>;
  /** What answered the telephone, where the carrier had found out by then. */
  readonly answered_by?: OpenUnion<AnsweredBy> | undefined;
  /** In `onInput`: `"left"` once a machine has heard the last prompt of `onMachine` to its end. */
  readonly message?: "left" | undefined;
}

/** Returns what the call does next. A method's type: a step of a list may demand `contact`, which a campaign gives. */
export type Step<Name extends string = never> = {
  step(input: StepInput): Action<Name> | Promise<Action<Name>>;
}["step"];

/** Called with what a call has learned. A method's type, as that of a step. */
export type InputHook = { hook(given: StepInput): unknown }["hook"];

/** How an answer continues: the fields of a `gather`. */
type Question = Pick<Gather<string>, "as" | "on" | "next" | "tries" | "otherwise">;

/** What a URL of the flow's own carries, sealed. */
export interface FlowState
  extends Pick<StepInput, "attempt" | "context" | "answers" | "answered_by"> {
  /** The service, the account and the call that it was made for; any account, any call where that was not known. */
  readonly of: FlowInput["of"];
  /** Which function asked, or decides: a step, `onAnswer` or `onMachine`; `""` at the end of a message. */
  readonly at: string;
  /** What was decided elsewhere: `actionUrl`. */
  readonly action?: AnyAction | undefined;
  /** What follows a `dial`. */
  readonly after?: AfterDial | undefined;
  /** The recording that comes to it: its name, and its call. */
  readonly recording?: Pick<RecordingInput, "as" | "call_id"> | undefined;
  /** The question that was asked; absent after a `say`. */
  readonly ask?: Question | undefined;
  /** Whether the prompts before it were those of `onMachine`, or of a step after it. */
  readonly machine?: boolean | undefined;
}
