import type { Context } from "../callbacks/signed-url.ts";
import type { Action } from "../flows/actions.ts";
import type { CalledContact, ScriptCampaign } from "../flows/contact.ts";
import type { StepInput } from "../flows/flow-state.ts";
import type { RecordingInput } from "../flows/recorded.ts";
import { attemptIn } from "./notifications.ts";
import type { Sql } from "./sqlite.ts";
import { contactOf, isErased } from "./tables.ts";

/** What a step of a script gets: the call, who is called, and the list. */
export interface ScriptInput extends StepInput {
  /** Who is called. */
  readonly contact: CalledContact;
  /** The list. */
  readonly campaign: ScriptCampaign;
}

/** Returns what the call does next. */
export type ScriptStep<Name extends string = string> = (
  input: ScriptInput,
) => Action<Name> | Promise<Action<Name>>;

/**
 * What the file of `outdial dial --script` and `outdial emulator --script` has as its default export: the flow of a list's
 * calls. Each answer is in the ledger before `onInput`. A server of your own takes the same:
 * `flowHandler({ secret, campaign, ...script })`; without `campaign` a step's `contact` and `campaign` are undefined.
 *
 * @typeParam Name - the names of the steps
 *
 * @example Ask everybody on a list
 * ```ts
 * import type { Script } from "outdial/campaigns";
 * import { gather, hangup, say } from "outdial/flows";
 *
 * const script = {
 *   onMachine: () => hangup(),
 *   onAnswer: ({ contact }) =>
 *     gather(`${contact.variables.name}, are you coming? 1 for yes, 9 for no more calls.`, {
 *       ...{ digits: 1, as: "coming", on: { 1: "thanks", 9: "stop" }, tries: 2 },
 *     }),
 *   steps: {
 *     thanks: () => say("Thank you."),
 *     stop: async ({ contact, campaign }) => {
 *       await campaign.block(contact.to_number);
 *       return say("We will not call again.");
 *     },
 *   },
 * } satisfies Script<"thanks" | "stop">; // In a file of its own: export default { … } satisfies Script<…>;
 * console.log(Object.keys(script.steps).join()); // thanks,stop
 * ```
 * @see docs/flows.md
 */
export interface Script<Name extends string = string> {
  /** Returns what an answered call does first. */
  readonly onAnswer: ScriptStep<Name>;
  /**
   * Decides in the place of `onAnswer` where a machine has answered.
   *
   * @defaultValue `onAnswer`
   */
  readonly onMachine?: ScriptStep<Name> | undefined;
  /**
   * What `next`, `on` and `otherwise` of an action name.
   *
   * @defaultValue none
   */
  readonly steps?: { readonly [Each in Name]: ScriptStep<Name> } | undefined;
  /**
   * Called with each answer, once it is in the ledger.
   *
   * @defaultValue none
   */
  readonly onInput?: ((given: ScriptInput) => unknown) | undefined;
  /**
   * Called when the carrier has a recording that a `record` has made.
   *
   * @defaultValue none
   */
  readonly onRecording?: ((recording: RecordingInput) => unknown) | undefined;
}

/** The contact of a call, by the context of its signed URL; `undefined` if it is none of this campaign, or was erased. */
export const calledContact = (sql: Sql, context: Context): CalledContact | undefined => {
  const key = attemptIn(sql, context);
  const row = key && contactOf(sql, key.contact);
  if (!row || isErased(row)) return;
  const { written: to_number, id, variables } = row;
  return {
    to_number,
    id,
    variables: variables === undefined ? {} : JSON.parse(variables),
    attempt: key.attempt,
  };
};
