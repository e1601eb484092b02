import { notEmulated } from "./absent.ts";
import { begin, methodOf, resolve, type Verb } from "./context.ts";
import { dial } from "./dial.ts";
import { gather } from "./gather.ts";
import { prompt } from "./prompts.ts";
import { record } from "./record.ts";
import { connect, start, stop } from "./streams.ts";

const promptVerb: Verb = async (element, context) => {
  await prompt(element, context);
  return "next";
};

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
  Record: record,
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
  return verb ? verb(element, context) : notEmulated(context, element.name);
};
