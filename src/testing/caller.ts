import { keyInterval } from "../emulator/callee.ts";
import type { Callee, CalleeAct, CalleeCall, CalleeScript } from "../emulator/callee-script.ts";
import type { CallAudio } from "../emulator/recording/recording.ts";
import { fail } from "../lib/check.ts";
import { messageOf } from "../server/outgoing.ts";
import { checkAct, expectationOf } from "./acts.ts";
import { type Segment, soundsOf } from "./detector.ts";
import type { Utterance } from "./turns.ts";

/** What the caller says in one act, as far as it has been performed. */
interface Said {
  readonly from: number;
  readonly expect: Utterance["expect"];
  to: number | undefined;
}

/** What the caller did: every act, and when they spoke. */
export interface Noted {
  readonly acts: CalleeAct[];
  readonly said: Said[];
  /** When they pressed keys. */
  readonly pressed: Segment[];
}

/** @throws {BadParametersException} when an act of a list breaks a rule, also one that is never reached */
export const checkActs = (caller: Callee): void => {
  if (typeof caller === "function") return;
  for (const [at, act] of caller.entries()) {
    try {
      checkAct(act);
    } catch (error) {
      fail("caller", `${messageOf(error)}, in act ${at + 1}`);
    }
  }
};

/** A script that notes what the caller does. */
export const noting = (caller: Callee, { acts: performed, said, pressed }: Noted): CalleeScript =>
  async function* (call: CalleeCall) {
    const acts = typeof caller === "function" ? caller(call) : caller;
    for await (const act of acts) {
      checkAct(act);
      performed.push(act);
      if (act.type === "press") {
        pressed.push({ from: call.ms, to: call.ms + act.digits.length * keyInterval });
      }
      if (act.type !== "say" && act.type !== "tone") {
        yield act;
        continue;
      }
      const one: Said = { from: call.ms, expect: expectationOf(act), to: undefined };
      said.push(one);
      yield act;
      one.to = call.ms;
    }
  };

/** An utterance, with the stretches of speech between its pauses. */
interface Words {
  readonly utterance: Utterance;
  readonly stretches: readonly Segment[];
}

/**
 * The utterances, by their first and their last audible sample before any fault of the line.
 *
 * @throws {BadParametersException} for a voice that is silent, as its turn would be absent from the figures
 */
export const wordsOf = (said: readonly Said[], audio: CallAudio): readonly Words[] =>
  said.flatMap(({ from, to, expect }) => {
    const samples = audio.samples("callee", from, Math.min(to ?? audio.ms, audio.ms));
    const stretches = soundsOf(samples, audio.sample_rate).map((stretch) => ({
      from: from + stretch.from,
      to: from + stretch.to,
    }));
    const [first] = stretches;
    const last = stretches.at(-1);
    if (first && last) return [{ utterance: { from: first.from, to: last.to, expect }, stretches }];
    // What the end of the call has cut off may have had its words still to come.
    if (to === undefined || to > audio.ms) return [];
    return fail("caller", "says what nobody can hear: be louder than -45 dBFS for 20 ms or more");
  });
