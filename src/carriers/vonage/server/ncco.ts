import type { FlowEntry } from "../../../emulator/history.ts";
import { withoutThrowing } from "../../../lib/check.ts";
import { FlowError } from "../../../performer/line.ts";
import { isAction, type NccoAction } from "./fields.ts";

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

/**
 * The actions of an NCCO.
 *
 * @param step - counts the NCCOs of the call from 1
 * @throws {FlowError} when it is none, or has an action that isn't emulated
 */
export const parseNcco = (ncco: unknown, step: number): readonly NccoAction[] => {
  if (!Array.isArray(ncco)) throw new FlowError(step, "The NCCO", "must be a list of actions");
  return ncco.map((action, at) => {
    if (!isAction(action)) throw new FlowError(step, `[${at}]`, "must be an object with an action");
    if (Object.hasOwn(followed, action.action)) return action;
    const instead = Object.hasOwn(replacements, action.action) && replacements[action.action];
    const rule = `${action.action} is not emulated${instead ? `: ${instead}` : ""}`;
    throw new FlowError(step, `[${at}].action`, rule);
  });
};
