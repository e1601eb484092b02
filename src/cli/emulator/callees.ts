import type { CalleeAct, CallRecord, EmulatorOptions } from "../../emulator/index.ts";
import { assignCallees, type CalleeShare } from "../dial/emulation/callees.ts";

/** How long a callee takes to press a key, in milliseconds. */
const answerDelay = 700;

/** The most questions in one call that a callee answers before they hang up: a flow may ask for ever. */
const mostQuestions = 20;

/** Presses at each question in turn, the last keys at all that follow. */
function* pressing(keys: readonly string[]): Generator<CalleeAct> {
  for (let question = 0; question < mostQuestions; question++) {
    yield { type: "until-prompt" };
    yield { type: "silence", ms: answerDelay };
    yield { type: "press", digits: keys[question] ?? keys.at(-1) ?? "" };
  }
  yield { type: "hangup" };
}

/**
 * Callees in shares, for calls that are placed at a port: who is called is not known before, so each call draws. The same
 * seed gives each number the same at each of its attempts.
 */
export const calleesOf = (
  shares: readonly CalleeShare[],
  seed: number,
): Pick<EmulatorOptions, "onCall" | "callee"> => {
  const decide = assignCallees(shares, [], seed);
  const attempts = new Map<string, number>();
  /** What the callees of calls press that were not answered yet. */
  const keysOf = new Map<string, readonly string[]>();
  return {
    onCall: ({ id, to_number }: CallRecord) => {
      const attempt = (attempts.get(to_number) ?? 0) + 1;
      attempts.set(to_number, attempt);
      const { outcome, keys } = decide(to_number, attempt);
      if (keys.length > 0) keysOf.set(id, keys);
      return outcome;
    },
    callee: ({ id }) => {
      const keys = keysOf.get(id) ?? [];
      keysOf.delete(id);
      return keys.length > 0 ? pressing(keys) : [][Symbol.iterator]();
    },
  };
};
