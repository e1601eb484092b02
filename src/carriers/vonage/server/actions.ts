import { fieldsOf, isText } from "../../../lib/check.ts";
import {
  endlessLoops,
  type InputRules,
  type Instruction,
  type Taken,
} from "../../../performer/instructions.ts";
import type { Part } from "../../../performer/line.ts";
import { iso } from "../../../server/history.ts";
import { type Fields, subjectOf } from "./call.ts";
import { connect } from "./connect.ts";
import {
  type ActionContext,
  ask,
  beginning,
  fail,
  numberOf,
  type Translate,
  targetOf,
  urlOf,
} from "./context.ts";
import type { Next } from "./fields.ts";
import type { NccoAction } from "./ncco.ts";
import { endRecording } from "./notifications.ts";

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
const input: Translate = (action, context) => {
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

/** The most characters of a `talk`, without tags. */
const maxSpoken = 1_500;

/** The actions that speak before keys are taken. */
const prompts: ReadonlySet<string> = new Set(["talk", "stream", "wait"]);

/** What ends the prompts before it itself: an input when it takes keys, a recording after its beep. */
const endsPrompts: ReadonlySet<string> = new Set(["input", "record"]);

/** Plays something, which keys and speech interrupt if `bargeIn` says so. */
const prompt = (
  action: NccoAction,
  context: ActionContext,
  part: Part,
  times: number,
): Instruction<Next> => {
  const { follower = "", takesSpeech } = context;
  const interruptedBy = action.bargeIn === true && { keys: true, speech: takesSpeech };
  return {
    type: "play",
    step: beginning(context, action),
    parts: [part],
    times,
    ...(interruptedBy && { interruptedBy }),
    endsPrompts: !prompts.has(follower) && !endsPrompts.has(follower),
  };
};

const loopsOf = ({ action, loop }: NccoAction, context: ActionContext): number =>
  numberOf(context, `${action}.loop`, loop, [0, endlessLoops], 1) || endlessLoops;

const talk: Translate = (action, context) => {
  const { text, language: given } = action;
  if (!isText(text)) return fail(context, "talk.text", "must be a string");
  const language = isText(given) ? given : undefined;
  const spoken = text.replace(/<[^>]*>/g, "");
  if (spoken.length > maxSpoken)
    return fail(context, "talk.text", `must be at most ${maxSpoken} characters, without tags`);
  return prompt(
    action,
    context,
    { type: "text", text: spoken, language },
    loopsOf(action, context),
  );
};

const stream: Translate = (action, context) => {
  const field = "stream.streamUrl";
  const source = { step: context.step, field, url: urlOf(context, field, action.streamUrl) };
  return prompt(action, context, { type: "media", source }, loopsOf(action, context));
};

const wait: Translate = (action, context) => {
  const seconds = numberOf(context, "wait.timeout", action.timeout, [0.1, 7_200], 10);
  return prompt(action, context, { type: "pause", ms: seconds * 1_000 }, 1);
};

const notify: Translate = (action, context) => {
  if (action.eventUrl === undefined) return fail(context, "notify.eventUrl", "is missing");
  const payload = fieldsOf(action.payload);
  return {
    type: "continue",
    step: beginning(context, action),
    next: () => {
      const { conversation, served } = context.call;
      const timestamp = iso(served.timeline.now());
      const fields = { payload, conversation_uuid: conversation, timestamp };
      return ask(context, targetOf(context, action), fields);
    },
  };
};

/** Begins to record, in the place of what was recorded before. */
const beginRecording = (action: NccoAction, context: ActionContext): void => {
  const { call, sign } = context;
  const { served } = call;
  const events = targetOf(context, action);
  context.notify(endRecording(call, sign));
  const id = context.newUuid();
  call.recordings.push(id);
  call.recording = { id, from: served.talkTime, events };
  served.audio.resume(served.talkTime);
};

/** Ends the recording, unless the end of the call has ended it. */
const stopRecording = ({ call, sign, notify: send }: ActionContext): void => {
  const { served } = call;
  if (served.isOver) return;
  served.audio.pause(served.talkTime);
  send(endRecording(call, sign));
};

const record: Translate = (action, context) => {
  const { endOnSilence, endOnKey, timeOut } = action;
  const isSynchronous = [endOnSilence, endOnKey, timeOut].some((value) => value !== undefined);
  const seconds = (name: string, value: unknown, range: readonly [number, number], none: number) =>
    numberOf(context, `record.${name}`, value, range, none) * 1_000;
  const rules = {
    keys: isText(endOnKey) ? endOnKey : "",
    endSilence: endOnSilence === undefined ? 0 : seconds("endOnSilence", endOnSilence, [3, 10], 3),
    countsFirstSilence: true,
    maxDuration: seconds("timeOut", timeOut, [3, 7_200], 7_200),
  };
  return {
    type: "record",
    step: beginning(context, action),
    beeps: action.beepStart === true,
    ...(isSynchronous && { rules }),
    begin: () => {
      beginRecording(action, context);
      return () => {
        if (isSynchronous) stopRecording(context);
        return "next";
      };
    },
  };
};

/** Lets the callee join a conversation. Somebody else joins after a second, talks for five and ends it. */
const conversation: Translate = (action, context) => {
  const { name } = action;
  if (!isText(name) || name === "") return fail(context, "conversation.name", "must be a text");
  const isRecorded = action.record === true || action.record === "true";
  return {
    type: "conference",
    step: beginning(context, action),
    name,
    isAlone: false,
    onBegin: () => {
      if (isRecorded) beginRecording(action, context);
    },
    next: () => {
      if (isRecorded) stopRecording(context);
      return "next";
    },
  };
};

const translations: Readonly<Record<string, Translate>> = {
  talk,
  stream,
  connect,
  conversation,
  record,
  input,
  notify,
  wait,
};

/** Whether the next `input` takes speech. */
const takesSpeech = (following: readonly NccoAction[]): boolean => {
  const type = following.find(({ action }) => action === "input")?.type;
  return Array.isArray(type) && type.includes("speech");
};

/**
 * Translates the actions of an NCCO, one after the other.
 *
 * @throws {FlowError} at an action that can't be performed
 */
export function* translate(
  ncco: readonly NccoAction[],
  context: Omit<ActionContext, "takesSpeech" | "follower">,
): Generator<Instruction<Next>> {
  for (const [at, action] of ncco.entries()) {
    const following = ncco.slice(at + 1);
    const own = { takesSpeech: takesSpeech(following), follower: following[0]?.action };
    const instruction = translations[action.action]?.(action, { ...context, ...own });
    if (instruction) yield instruction;
  }
}
