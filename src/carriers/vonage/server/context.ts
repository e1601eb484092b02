import { isText } from "../../../lib/check.ts";
import type { Instruction, Then } from "../../../performer/instructions.ts";
import { type Beginning, FlowError } from "../../../performer/line.ts";
import type { Message } from "../../../server/call.ts";
import { isAllowed, type Requester } from "../../../server/outgoing.ts";
import type { Fields, VonageCall } from "./call.ts";
import type { Next, Target } from "./fields.ts";
import type { NccoAction } from "./ncco.ts";
import { askForNcco } from "./requests.ts";
import type { SignWebhook } from "./tokens.ts";

/** What the actions of one NCCO share. */
export interface ActionContext {
  readonly call: VonageCall;
  /** Counts the NCCOs of the call from 1. */
  readonly step: number;
  /** Aborts when the call is over or continues elsewhere. */
  readonly signal: AbortSignal;
  readonly request: Requester;
  readonly sign: SignWebhook;
  /** Makes a UUID. */
  readonly newUuid: () => string;
  readonly notify: (messages: readonly Message[]) => void;
  /** Whether the next `input` takes speech, which interrupts a prompt then. */
  readonly takesSpeech: boolean;
  /** The name of the next action, if there is one. */
  readonly follower: string | undefined;
}

/**
 * Translates an action for the performer.
 *
 * @throws {FlowError} when it can't be performed
 */
export type Translate = (action: NccoAction, context: ActionContext) => Instruction<Next>;

/** @throws {FlowError} always */
export const fail = ({ step }: ActionContext, field: string, rule: string): never => {
  throw new FlowError(step, field, rule);
};

/** The beginning of an action, in the history, with its fields as they came. */
export const beginning = (
  { step }: Pick<ActionContext, "step">,
  { action: verb, text, ...fields }: NccoAction,
): Beginning => {
  const attributes = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      isText(value) ? value : JSON.stringify(value),
    ]),
  );
  return { type: "verb", step, verb, attributes, ...(isText(text) && { text }) };
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
  if (isAllowed(url, context.call.served.reach)) return url;
  return fail(
    context,
    field,
    "must be http or https, and lead to no private host of a remote service",
  );
};

/** Where the events of an action go: its own URL, or that of the call. */
export const targetOf = (
  context: ActionContext,
  { action, eventUrl, eventMethod }: NccoAction,
): Target | undefined => {
  if (eventUrl === undefined) return context.call.fields.events;
  const url = urlOf(context, `${action}.eventUrl`, eventUrl);
  if (eventMethod !== undefined && eventMethod !== "GET" && eventMethod !== "POST") {
    return fail(context, `${action}.eventMethod`, "must be GET or POST");
  }
  return { url, method: eventMethod ?? "POST" };
};

/** Sends an event of an action whose response may replace the NCCO. */
export const ask = async (
  { call, request, sign, signal, step }: ActionContext,
  target: Target | undefined,
  fields: Fields,
): Promise<Then<Next>> => {
  if (!target) return "next";
  const parts = { call, request, sign, signal, step };
  const ncco = await askForNcco({ target, fields, isOptional: true }, parts);
  return ncco ? { request: { ncco } } : "next";
};
