import { withDeadline } from "../request/deadline.ts";
import type { Callee, CalleeCall } from "./callee/act.ts";
import { Person } from "./callee/person.ts";
import { follow } from "./flow/follow.ts";
import type { FlowParts } from "./flow/parts.ts";
import type { Call } from "./line/call.ts";
import { destinationOf } from "./line/destinations.ts";
import { callUp, type Ringing } from "./line/line.ts";
import { type Outcome, outcomeIn } from "./line/outcome.ts";
import type { OnCall } from "./options.ts";
import { audioOf } from "./recording/audio.ts";
import { wordsOf } from "./words.ts";

/** What a call needs of the rest of the emulator. */
export interface RunParts extends FlowParts, Ringing {
  /** Milliseconds from the answer. */
  readonly maxDuration: number;
  readonly callee?: Callee | undefined;
  readonly onCall?: OnCall | undefined;
}

/** What the telephone that is called will do, by the user's own rule or by its number. */
const decide = async (call: Call, { onCall, respondWithin }: RunParts): Promise<Outcome> => {
  const { outcome } = destinationOf(call.params.to_number);
  if (!onCall) return outcome;
  const late = () => new Error(`gave nothing within ${respondWithin} ms`);
  try {
    const decided = await withDeadline(respondWithin, call.over.signal, late, async () =>
      onCall(call.toRecord()),
    );
    return decided === undefined ? outcome : outcomeIn(decided);
  } catch (error) {
    if (!call.isOver) call.note({ type: "error", source: "onCall", message: wordsOf(error) });
    return outcome;
  }
};

/** Somebody who does what a script says, from the answer on. */
const personOf = (call: Call, callee: Callee): Person => {
  const { recording } = call;
  const { from_number, to_number } = call.params;
  const seen: CalleeCall = {
    id: call.id,
    from_number,
    to_number,
    get ms() {
      return person.ms;
    },
    get heard() {
      return audioOf(recording, call.talked).heard;
    },
  };
  const person: Person = new Person(() => (typeof callee === "function" ? callee(seen) : callee), {
    recording,
    hangUp: () => call.happen("normal"),
    onError: (error) => call.note({ type: "error", source: "callee", message: wordsOf(error) }),
  });
  return person;
};

/** The whole life of a call, from the dialling to the end. */
export const run = async (call: Call, parts: RunParts): Promise<void> => {
  const outcome = await decide(call, parts);
  await callUp(call, outcome, parts);
  if (call.state !== "answered") return;
  if (parts.callee) call.person = personOf(call, parts.callee);
  call.timeline.after(parts.maxDuration, () => call.happen("max_duration"));
  const { hangUpAfter } = outcome.outcome === "answer" ? outcome : {};
  if (hangUpAfter === "midway") call.leavesMidway = true;
  else if (hangUpAfter !== undefined) call.timeline.after(hangUpAfter, () => call.happen("normal"));
  await follow(call, parts);
};
