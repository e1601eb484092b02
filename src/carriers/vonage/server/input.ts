import { fieldsOf } from "../../../lib/check.ts";
import type { InputRules, Taken } from "../../../performer/instructions.ts";
import { iso } from "../../../server/history.ts";
import { type Fields, subjectOf } from "./call.ts";
import {
  type ActionContext,
  ask,
  beginning,
  fail,
  numberOf,
  type Translate,
  targetOf,
} from "./context.ts";
import type { NccoAction } from "./ncco.ts";

const rulesOf = (
  { dtmf: keys, speech: said }: NccoAction,
  types: readonly unknown[],
  context: ActionContext,
): InputRules => {
  const [dtmf, speech] = [fieldsOf(keys), fieldsOf(said)];
  const secondsOf = (name: string, range: readonly [number, number], missing: number) =>
    numberOf(context, `input.speech.${name}`, speech[name], range, missing) * 1_000;
  const takesKeys = types.includes("dtmf");
  const takesSpeech = types.includes("speech");
  const timeOut = numberOf(context, "input.dtmf.timeOut", dtmf.timeOut, [0, 10], 3) * 1_000;
  const startTimeout = secondsOf("startTimeout", [1, 60], 10);
  return {
    takesKeys,
    takesSpeech,
    maxKeys: numberOf(context, "input.dtmf.maxDigits", dtmf.maxDigits, [1, 20], 4),
    finishingKeys: dtmf.submitOnHash === true ? "#" : "",
    // Of both, the longer one: Vonage doesn't say which.
    firstTimeout: Math.max(takesKeys ? timeOut : 0, takesSpeech ? startTimeout : 0),
    keyTimeout: timeOut,
    endSilence: secondsOf("endOnSilence", [0.4, 10], 2),
    maxSpeech: secondsOf("maxDuration", [1, 60], 60),
  };
};

const speechFields = (
  { keys, finishedBy, speech }: Taken,
  { endSilence, maxSpeech }: InputRules,
): Fields => {
  if (keys !== "" || finishedBy !== undefined) return { results: [] };
  if (speech.isEmpty) return { timeout_reason: "start_timeout", results: [] };
  const isBySilence = speech.to + endSilence <= speech.from + maxSpeech;
  return {
    timeout_reason: isBySilence ? "end_on_silence_timeout" : "max_duration",
    results: [{ confidence: String(speech.confidence), text: speech.text }],
  };
};

/** The fields of the event. */
const fieldsOfInput = (taken: Taken, rules: InputRules): Fields => {
  const hasKeys = rules.takesKeys && taken.speech.isEmpty;
  return {
    ...(rules.takesSpeech && { speech: speechFields(taken, rules) }),
    dtmf: hasKeys
      ? { digits: taken.keys, timed_out: !taken.isComplete }
      : { digits: null, timed_out: false },
  };
};

/** Takes keys or speech, and sends them: the response may replace the NCCO. */
export const input: Translate = (action, context) => {
  const { type = ["dtmf"], mode } = action;
  const types: readonly unknown[] = Array.isArray(type) ? type : [];
  if (!types.some((each) => each === "dtmf" || each === "speech")) {
    return fail(context, "input.type", "must be a list of dtmf and speech");
  }
  if (mode === "asynchronous") return fail(context, "input.mode", "asynchronous is not emulated");
  const rules = rulesOf(action, types, context);
  const target = targetOf(context, action);
  return {
    type: "input",
    step: beginning(context, action),
    prompts: [],
    bargesIn: true,
    rules,
    next: (taken) => {
      const { call, signal } = context;
      if (signal.aborted) return "next";
      const timestamp = iso(call.served.timeline.now());
      return ask(context, target, {
        ...fieldsOfInput(taken, rules),
        ...subjectOf(call),
        timestamp,
      });
    },
  };
};
