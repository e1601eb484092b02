import { isText } from "../../lib/check.ts";
import type { Message } from "../call.ts";
import { endlessLoops, FlowError, type FlowParts, planHangup, playTone } from "../line.ts";
import { isAllowed } from "../outgoing.ts";
import type { Utterance } from "../utterances.ts";
import type { Fields, VonageCall } from "./call.ts";
import type { NccoAction, Target } from "./fields.ts";
import { askForNcco } from "./requests.ts";
import type { SignWebhook } from "./tokens.ts";

/** What the actions of one NCCO share. */
export interface ActionContext {
  readonly known: VonageCall;
  /** Counts the NCCOs of the call from 1. */
  readonly step: number;
  /** Aborts when the call is over or continues elsewhere. */
  readonly signal: AbortSignal;
  readonly parts: FlowParts;
  readonly sign: SignWebhook;
  /** Makes a UUID. */
  readonly newUuid: () => string;
  readonly notify: (messages: readonly Message[]) => void;
  /** Keys that interrupted a prompt: they belong to the next `input`. */
  readonly keys: string[];
  /** What was said while a prompt was interrupted: it belongs to the next `input`. */
  readonly spoken: Utterance[];
  /** Whether the next `input` takes speech, which interrupts a prompt then. */
  readonly takesSpeech: boolean;
  /** Whether no action follows. */
  readonly isLast: boolean;
}

/** What follows an action: the next one, or another NCCO. */
export type Then = readonly NccoAction[] | undefined;

export type Perform = (action: NccoAction, context: ActionContext) => Promise<Then>;

/** @throws {FlowError} always */
export const fail = ({ step }: ActionContext, field: string, rule: string): never => {
  throw new FlowError(step, field, rule);
};

/** Logs the beginning of an action, with its fields as they came. */
export const begin = (
  { known: { call }, step }: ActionContext,
  { action: verb, text, ...fields }: NccoAction,
  duration?: number,
): void => {
  const attributes = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      isText(value) ? value : JSON.stringify(value),
    ]),
  );
  call.log({
    type: "verb",
    step,
    verb,
    attributes,
    ...(isText(text) && { text }),
    ...(duration !== undefined && { duration }),
  });
  planHangup(call, duration);
};

/** A number of an action; the default where it is missing. */
export const numberOf = (
  context: ActionContext,
  field: string,
  value: unknown,
  [min, max]: readonly [min: number, max: number],
  missing: number,
): number => {
  if (value === undefined) return missing;
  // Vonage takes numbers in strings, too.
  const number = isText(value) && value !== "" ? Number(value) : value;
  if (typeof number === "number" && number >= min && number <= max) return number;
  return fail(context, field, `must be from ${min} to ${max}`);
};

/** The one URL of a list, or the URL itself. */
export const urlOf = (context: ActionContext, field: string, value: unknown): string => {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const [url] = list;
  if (list.length !== 1 || !isText(url)) return fail(context, field, "must be a list of one URL");
  if (isAllowed(url, context.known.call.local)) return url;
  return fail(context, field, "must be https, as the service is remote");
};

/** Where the events of an action go: its own URL, or that of the call. */
export const targetOf = (
  context: ActionContext,
  { action, eventUrl, eventMethod }: NccoAction,
): Target | undefined => {
  if (eventUrl === undefined) return context.known.fields.events;
  const url = urlOf(context, `${action}.eventUrl`, eventUrl);
  if (eventMethod !== undefined && eventMethod !== "GET" && eventMethod !== "POST") {
    return fail(context, `${action}.eventMethod`, "must be GET or POST");
  }
  return { url, method: eventMethod ?? "POST" };
};

/** Sends an event of an action whose response may replace the NCCO. */
export const ask = async (
  context: ActionContext,
  target: Target | undefined,
  fields: Fields,
): Promise<Then> => {
  if (!target) return;
  const { known, parts, sign, signal, step } = context;
  const request = { known, request: parts.request, sign, signal, step };
  return askForNcco({ target, fields, isOptional: true }, request);
};

/** Plays a prompt, which a key interrupts if `bargeIn` says so. */
export const prompt = async (
  action: NccoAction,
  context: ActionContext,
  once: number,
): Promise<undefined> => {
  const { known, signal, keys, spoken, takesSpeech } = context;
  const loops =
    numberOf(context, `${action.action}.loop`, action.loop, [0, endlessLoops], 1) || endlessLoops;
  begin(context, action, loops * once);
  const { call } = known;
  const isBarged = () => action.bargeIn === true && keys.length + spoken.length > 0;
  const onKey = (digit: string) => {
    if (action.bargeIn !== true) return;
    keys.push(digit);
    call.timeline.skip();
  };
  const onSpeech = (utterance: Utterance) => {
    if (action.bargeIn === true && takesSpeech) spoken.push(utterance);
  };
  call.keyListeners.add(onKey);
  call.speechListeners.add(onSpeech);
  try {
    await playTone(call, loops * once, () => !signal.aborted && !isBarged());
  } finally {
    call.keyListeners.delete(onKey);
    call.speechListeners.delete(onSpeech);
  }
};
