import type { Instruction } from "../../../performer/instructions.ts";
import {
  beginning,
  methodOf,
  type Request,
  resolve,
  type Verb,
  type VerbContext,
} from "./context.ts";
import { dial } from "./dial.ts";
import type { MarkupElement } from "./document.ts";
import { gather } from "./gather.ts";
import { notEmulated } from "./not-emulated.ts";
import { prompt } from "./prompts.ts";
import { record } from "./record.ts";
import { connect, start, stop } from "./streams.ts";

const redirect: Verb = (element, context) => ({
  type: "continue",
  step: beginning(element, context),
  next: () => {
    const url = resolve(context, "Redirect", element.text);
    return { request: { url, method: methodOf(element.attributes.method) } };
  },
});

const hangup: Verb = (element, context) => ({
  type: "continue",
  step: beginning(element, context),
  next: () => "end",
});

const verbs: Readonly<Record<string, Verb>> = {
  Say: prompt,
  Play: prompt,
  Pause: prompt,
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
 * Translates the verbs of a document, one after the other.
 *
 * @throws {FlowError} at a verb that can't be performed, or that the emulator doesn't have
 */
export function* translate(
  elements: readonly MarkupElement[],
  context: VerbContext,
): Generator<Instruction<Request>> {
  for (const [at, element] of elements.entries()) {
    const { name } = element;
    const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
    yield verb ? verb(element, context, elements[at + 1]?.name) : notEmulated(context, name);
  }
}
