import { isRecord, isText, withoutThrowing } from "../../../lib/check.ts";
import { FlowError } from "../../../performer/line.ts";
import type { FlowEntry } from "../../../server/history.ts";

/** One action of an NCCO. */
export type NccoAction = Readonly<Record<string, unknown>> & { readonly action: string };

/** Whether a value is an action of an NCCO. */
const isAction = (value: unknown): value is NccoAction => isRecord(value) && isText(value.action);

/** The fields of each action that the emulator follows; others are listed in the history. */
export const followed: Readonly<Record<string, readonly string[]>> = {
  talk: ["text", "loop", "bargeIn"],
  stream: ["streamUrl", "loop", "bargeIn"],
  connect: ["endpoint", "from", "timeout", "limit", "eventType", "eventUrl", "eventMethod"],
  conversation: ["name", "record", "eventUrl", "eventMethod"],
  record: ["endOnSilence", "endOnKey", "timeOut", "beepStart", "eventUrl", "eventMethod"],
  input: ["type", "dtmf", "speech", "eventUrl", "eventMethod"],
  notify: ["payload", "eventUrl", "eventMethod"],
  wait: ["timeout"],
};

/** What an application may do in the place of an action that isn't emulated. */
export const replacements: Readonly<Record<string, string>> = {
  transfer: "transfer the call by the API",
  pay: "take the digits by input",
};

/** The fields of an NCCO that the emulator does not follow, such as `talk.style`; the first 20. */
const unknownFields = (ncco: readonly NccoAction[]): readonly string[] => {
  const unknown = ncco.flatMap(({ action, ...fields }) =>
    Object.keys(fields)
      .filter((name) => !followed[action]?.includes(name))
      .map((name) => `${action}.${name}`),
  );
  return [...new Set(unknown)].slice(0, 20);
};

/** The most characters of an NCCO that the history keeps. */
const maxShown = 4_096;

/** What the history has of an NCCO: its beginning, and the fields that are not followed. */
export const shownNcco = (text: string): Pick<FlowEntry, "document" | "unknown_fields"> => {
  const ncco = withoutThrowing((): unknown => JSON.parse(text));
  const unknown_fields = unknownFields(Array.isArray(ncco) ? ncco.filter(isAction) : []);
  return {
    document: text.slice(0, maxShown),
    ...(unknown_fields.length > 0 && { unknown_fields }),
  };
};

/** Why an action can't be performed, as the field and the end of a sentence. */
const problemOf = (action: unknown): readonly [field: string, rule: string] | undefined => {
  if (!isAction(action)) return ["", "must be an object with an action"];
  const { action: name } = action;
  if (Object.hasOwn(followed, name)) return;
  const instead = Object.hasOwn(replacements, name) && replacements[name];
  return [".action", `${name} is not emulated${instead ? `: ${instead}` : ""}`];
};

/**
 * The actions of an NCCO.
 *
 * @param refuse - called with where it is none, such as `[1].action`, and the rule
 */
export const readNcco = <Refused>(
  ncco: unknown,
  refuse: (at: string, rule: string) => Refused,
): readonly NccoAction[] | Refused => {
  if (!Array.isArray(ncco)) return refuse("", "must be a list of actions");
  for (const [at, action] of ncco.entries()) {
    const problem = problemOf(action);
    if (problem) return refuse(`[${at}]${problem[0]}`, problem[1]);
  }
  return ncco;
};

/**
 * The actions of an NCCO that an application has answered.
 *
 * @param step - counts the NCCOs of the call from 1
 * @throws {FlowError} when it is none, or has an action that isn't emulated
 */
export const parseNcco = (ncco: unknown, step: number): readonly NccoAction[] =>
  readNcco(ncco, (at, rule) => {
    throw new FlowError(step, at || "The NCCO", rule);
  });
