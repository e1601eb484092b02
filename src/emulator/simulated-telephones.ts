import { withDeadline } from "../http/deadline.ts";
import { messageOf } from "../server/outgoing.ts";
import { type Call, dialLeg } from "./call.ts";
import { ScriptedCallee } from "./callee.ts";
import type { Callee, CalleeCall } from "./callee-script.ts";
import type { CallParts, Telephones } from "./flow.ts";
import { audioOf } from "./recording/recording.ts";
import { type Outcome, parseOutcome, scenarioOf } from "./scenarios.ts";
import { type FlowParts, simulatedLine } from "./simulated-line.ts";

/** What the callee's telephone will do, by `onCall` or by its number. */
const decideOutcome = async (
  call: Call,
  { onCall, responseTimeout }: CallParts,
): Promise<Outcome> => {
  const { outcome } = scenarioOf(call.params.to_number);
  if (!onCall) return outcome;
  const late = () => new Error(`gave nothing within ${responseTimeout} ms`);
  try {
    const decided = await withDeadline(responseTimeout, call.over.signal, late, async () =>
      onCall(call.toRecord()),
    );
    return decided === undefined ? outcome : parseOutcome(decided);
  } catch (error) {
    if (!call.isOver) call.log({ type: "error", source: "onCall", message: messageOf(error) });
    return outcome;
  }
};

const scriptedCallee = (call: Call, script: Callee, { isLost }: FlowParts): ScriptedCallee => {
  const { id, recording } = call;
  const { from_number, to_number } = call.params;
  const view: CalleeCall = {
    id,
    from_number,
    to_number,
    get ms() {
      return callee.ms;
    },
    get played() {
      return audioOf(recording, call.talkTime).played;
    },
    get keys() {
      return callee.keys;
    },
  };
  const start = () => (typeof script === "function" ? script(view) : script);
  const callee: ScriptedCallee = new ScriptedCallee(start, {
    recording,
    isLost,
    hangUp: () => call.transition("normal"),
    promptsEndedAt: () => call.promptsEndedAt,
    onDigit: (digit) => call.press(digit),
    onText: (utterance) => call.addUtterance(utterance),
    onError: (error) => call.log({ type: "error", source: "callee", message: messageOf(error) }),
  });
  return callee;
};

/** How long a machine greets and beeps, in milliseconds, and how. */
const defaultGreeting = 4_000;
const beepDuration = 500;
const [greetingHertz, beepHertz] = [300, 1_000] as const;

/** Lets a machine answer: it greets, beeps, and then records without a sound. */
const answerAsMachine = (
  call: Call,
  { greeting = defaultGreeting, beep = true }: Extract<Outcome, { readonly outcome: "answer" }>,
): void => {
  const readyAt = greeting + (beep ? beepDuration : 0);
  call.machine = { readyAt, beeps: beep };
  if (call.callee) return;
  call.recording.callee.addTone(greetingHertz, 0, greeting);
  if (beep) call.recording.callee.addTone(beepHertz, greeting, readyAt);
};

/** Rings until the call is answered or fails, by `onCall` or its number, and lets the callee act then. */
const ring: Telephones["ring"] = async (call, parts) => {
  const outcome = await decideOutcome(call, parts);
  await dialLeg(call, outcome, { ...parts, ...call.limits });
  if (call.state !== "answered") return;
  if (parts.callee) call.callee = scriptedCallee(call, parts.callee, parts);
  const answer = outcome.outcome === "answer" ? outcome : undefined;
  if (answer?.answeredBy === "machine") answerAsMachine(call, answer);
  const { hangUpAfter } = answer ?? {};
  if (hangUpAfter === "midway") call.hangsUpMidway = true;
  else if (hangUpAfter !== undefined) {
    call.timeline.after(hangUpAfter, () => call.transition("normal"));
  }
};

/** Telephones whose callees are simulated. */
export const simulatedTelephones: Telephones = {
  responseTo: scenarioOf,
  ring,
  lineOf: simulatedLine,
};
