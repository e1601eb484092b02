import type { Context } from "../callbacks/signed-url.ts";
import { fieldsOf, isText } from "../lib/check.ts";

/** The variables of a list's contact, out of the context of a signed URL. */
export const variablesIn = ({ variables }: Context): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fieldsOf(variables)).filter((one): one is [string, string] => isText(one[1])),
  );

/** Who is called, as the ledger of a campaign has it. */
export interface CalledContact {
  /** E.164, as the list has it. */
  readonly to_number: string;
  /** The list's own name for the contact. */
  readonly id: string | undefined;
  /** The columns of the list that the option `variables` names; `{}` without one. */
  readonly variables: Readonly<Record<string, string>>;
  /** Counts the attempts of the contact from 1. */
  readonly attempt: number;
}

/** What a step does with the list of its call: these functions of a campaign. */
export interface ScriptCampaign {
  /** Blocks numbers: nobody calls them again. Returns how many waited. */
  readonly block: (numbers: string | Iterable<string>) => Promise<number>;
  /** Calls a contact at a time that it asked for; `false` if it will not be called. */
  readonly callBack: (to_number: string, at: Date | string) => Promise<boolean>;
  /** Ends every contact that waits as `canceled`; for good. */
  readonly cancel: () => Promise<void>;
}
