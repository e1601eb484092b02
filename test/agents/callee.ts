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

/** Listens until so many ms of an answer were heard, however long it takes to come. */
const listeningTo = async function* (
  answer: number,
  ms: number,
  call: CalleeCall,
  hearing: Hearing,
): AsyncGenerator<CalleeAct> {
  while (msOf(answer, hearing(call.id)) < ms && call.ms < patience) {
    yield { type: "silence", ms: 50 };
  }
};

/** Somebody who hangs up once so many ms of an answer were heard. */
export const hearingOut = (answer: number, ms: number, hearing: Hearing): CalleeScript =>
  async function* (call: CalleeCall): AsyncGenerator<CalleeAct> {
    yield* listeningTo(answer, ms, call, hearing);
    yield { type: "hangup" };
  };

/**
 * Somebody who interrupts the first answer once so many ms of it were heard, and hangs up once so much of the
 * next one was.
 */
export const interrupting = (ms: number, hearing: Hearing, rest = 500): CalleeScript =>
  async function* (call: CalleeCall): AsyncGenerator<CalleeAct> {
    yield* listeningTo(0, ms, call, hearing);
    yield { type: "tone", hertz: 300, ms: 400 };
    yield* listeningTo(1, rest, call, hearing);
    yield { type: "hangup" };
  };
