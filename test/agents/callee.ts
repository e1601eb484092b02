import type { CallAudio, CalleeAct, CalleeCall, CalleeScript } from "outdial/emulator";
import { answerAt } from "../conformance/models/model.ts";

/** What has been heard so far in a call. */
export type Hearing = (id: string) => CallAudio | undefined;

/** Whether a voice keeps its level at a sample: a filter's edges are no answer. */
const isFlat = (sample: number, next = 0): boolean => Math.abs(sample - next) < 2;

/** Samples in which a voice keeps its level. */
export const flat = (samples: Int16Array): Int16Array =>
  samples.filter((each, at) => isFlat(each, samples[at + 1]));

/** How many ms were heard of the answer of a model with this number. One pass: a callee who waits asks often. */
export const msOf = (answer: number, audio: CallAudio | undefined): number => {
  if (!audio) return 0;
  const samples = audio.samples("application");
  let heard = 0;
  for (const [at, sample] of samples.entries()) {
    if (isFlat(sample, samples[at + 1]) && answerAt(sample) === answer) heard++;
  }
  return (heard * 1000) / audio.sample_rate;
};

/** Voices by the level of their samples. */
export type Voices = Readonly<Record<string, number>>;

/** Which voices of the application were heard after a time, in their order, with how many ms. */
export const heardIn = (
  audio: CallAudio,
  voices: Voices,
  from = 0,
): readonly (readonly [voice: string, ms: number])[] => {
  const heard: [string, number][] = [];
  const perMs = audio.sample_rate / 1000;
  for (const sample of audio.samples("application").subarray(Math.ceil(from * perMs))) {
    const [voice] = Object.entries(voices).find(([, at]) => Math.abs(sample - at) < 200) ?? [];
    if (!voice) continue;
    if (heard.at(-1)?.[0] !== voice) heard.push([voice, 0]);
    for (const last of heard.slice(-1)) last[1] += 1 / perMs;
  }
  return heard;
};

/** When a callee who waits for an answer gives up, in ms since they picked up. */
const patience = 120_000;

/** Listens until so many ms of an answer were heard, however long it takes to come. */
const listeningTo = async function* (
  answer: number,
  ms: number,
  call: CalleeCall,
  hearing: Hearing,
): AsyncGenerator<CalleeAct> {
  while (msOf(answer, hearing(call.id)) < ms && call.ms < patience) {
    yield { type: "silence", ms: 100 };
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
