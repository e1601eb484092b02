import type { CallAudio, CalleeAct, CalleeCall, CalleeScript } from "outdial/emulator";
import { answerAt } from "./model.ts";

/** What has been heard so far in a call. */
export type Hearing = (id: string) => CallAudio | undefined;

/** Samples in which a voice keeps its level: a filter's edges are no answer. */
export const flat = (samples: Int16Array): Int16Array =>
  samples.filter((each, at) => Math.abs(each - (samples[at + 1] ?? 0)) < 2);

/** How many ms were heard of the answer of a model with this number. */
export const msOf = (answer: number, audio: CallAudio | undefined): number => {
  const samples = flat(audio?.samples("application") ?? new Int16Array());
  const heard = samples.filter((sample) => answerAt(sample) === answer);
  return (heard.length * 1000) / (audio?.sample_rate ?? 8_000);
};

/** When a callee who waits for an answer gives up, in ms since they picked up. */
const patience = 40_000;

/**
 * Somebody who listens for so many ms, interrupts, and hangs up once so much of the next answer was
 * heard, however long it takes to come.
 */
export const interrupting = (ms: number, hearing: Hearing, rest = 500): CalleeScript =>
  async function* (call: CalleeCall): AsyncGenerator<CalleeAct> {
    yield { type: "listen", ms };
    yield { type: "tone", hertz: 300, ms: 400 };
    while (msOf(1, hearing(call.id)) < rest && call.ms < patience) {
      yield { type: "silence", ms: 100 };
    }
    yield { type: "hangup" };
  };
