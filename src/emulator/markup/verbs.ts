import type { Reason } from "../history.ts";
import { dialSecondLeg } from "../line.ts";
import { scenarioOf } from "../scenarios.ts";
import {
  actionOf,
  attributeOf,
  begin,
  fail,
  methodOf,
  numberOf,
  resolve,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { gather } from "./gather.ts";
import { prompt } from "./prompts.ts";
import { connect, start, stop } from "./streams.ts";

const promptVerb: Verb = async (element, context) => {
  await prompt(element, context);
  return "next";
};

/** A number without what people write between the digits; a SIP address as it is. */
const bare = (to: string): string => (/^sip:/i.test(to) ? to : to.replace(/[\s().-]/g, ""));

const answers = (to: string): boolean => scenarioOf(to).outcome.outcome === "answer";

/** Whom a Dial calls: the noun that is reached, or the text. */
const dialled = (element: MarkupElement, context: VerbContext): string => {
  const [first] = element.children;
  if (!first) return bare(element.text);
  const other = element.children.find(({ name }) => name !== "Number" && name !== "Sip");
  if (other) return fail(context, `Dial.${other.name}`, "is not emulated");
  // The carriers call all of them at once, and the first to answer is connected.
  const numbers = element.children.map(({ text }) => bare(text));
  return numbers.find(answers) ?? bare(first.text);
};

const dial: Verb = async (element, context) => {
  const { known, step, signal, parts, carrier } = context;
  const { call } = known;
  const to = dialled(element, context);
  if (!to) return fail(context, "Dial", "has nobody to call", "nobody");
  begin(context, element);
  const sid = carrier.newSid("call", call.timeline.now());
  const record = attributeOf(element, "record", context) ?? "do-not-record";
  const limit = numberOf(element, "timeLimit", context, 0) * 1_000;
  const { reason, talkTime } = await dialSecondLeg(call, {
    step,
    to,
    record: record !== "do-not-record" && record !== "false",
    signal,
    ringDuration: parts.ringDuration,
    answerTimeout: numberOf(element, "timeout", context, 30) * 1_000,
    maxDuration: limit || undefined,
  });
  const status = statusOfLeg(reason, context);
  const seconds = talkTime === undefined ? undefined : Math.round(talkTime / 1_000);
  return actionOf(element, context, carrier.dialFields(sid, status, seconds)) ?? "next";
};

/** What `DialCallStatus` says of the reason for which the second leg ended. */
const statusOfLeg = (reason: Reason | undefined, { carrier }: VerbContext): string =>
  (reason && carrier.failures[reason]) ?? "completed";

const redirect: Verb = async (element, context) => {
  begin(context, element);
  const url = resolve(context, "Redirect", element.text);
  return { url, method: methodOf(element.attributes.method) };
};

const hangup: Verb = async (element, context) => {
  begin(context, element);
  return "end";
};

const verbs: Readonly<Record<string, Verb>> = {
  Say: promptVerb,
  Play: promptVerb,
  Pause: promptVerb,
  Gather: gather,
  Dial: dial,
  Connect: connect,
  Start: start,
  Stop: stop,
  Redirect: redirect,
  Hangup: hangup,
  Reject: hangup,
};

/**
 * Performs a verb.
 *
 * @throws {FlowError} when it can't be performed, or the emulator has no such verb
 */
export const perform: Verb = async (element, context) => {
  const verb = Object.hasOwn(verbs, element.name) ? verbs[element.name] : undefined;
  return verb ? verb(element, context) : fail(context, element.name, "is not emulated");
};
