import {
  type Dialled,
  type Dialling,
  FlowError,
  type Line,
  type MediaSource,
  type Part,
  type Sound,
} from "../performer/line.ts";
import type { Requester } from "../server/outgoing.ts";
import { type Call, dialLeg, type Ringing } from "./call.ts";
import { callLine, type LineEnds, SecondLeg } from "./call-line.ts";
import { addKeyTone } from "./callee.ts";
import { wavSeconds } from "./recording/wav.ts";
import { scenarioOf } from "./scenarios.ts";
import type { StreamParts } from "./stream.ts";

/** What the line of a simulated call needs of the emulator. */
export interface FlowParts extends Ringing, StreamParts {
  readonly request: Requester;
  /** Called when prompts of the flow have ended, and keys are taken. */
  readonly onQuestion?: ((call: Call) => void) | undefined;
  /** Whether a frame of 20 ms of the application's audio is lost, by its index since the answer. */
  readonly isLost?: ((frame: number) => boolean) | undefined;
  /** Called when a part of the flow was played: from when to when, in milliseconds since the answer. */
  readonly onPlayed?: ((part: Part, from: number, to: number) => void) | undefined;
  readonly onRecorded?: LineEnds["onRecorded"];
  /** How much of the applications' audio is kept of a call, in milliseconds: ten minutes by default. */
  readonly kept?: number | undefined;
}

/** What the line of a simulated call has that the emulator's own has not. */
export type LineParts = Pick<
  FlowParts,
  | "openSocket"
  | "impair"
  | "isLost"
  | "onFrame"
  | "onPlayed"
  | "onRecorded"
  | "onQuestion"
  | "kept"
  | "onUnkept"
>;

/** The assumed length of an action whose length is not known, in milliseconds. */
const assumedDuration = 2_000;

/**
 * Lets a callee who hangs up midway do so in the middle of the first step of the flow.
 *
 * @param duration - milliseconds, if known
 */
const planHangup = (call: Call, duration: number = assumedDuration): void => {
  if (!call.hangsUpMidway) return;
  call.hangsUpMidway = false;
  call.timeline.after(duration / 2, () => call.transition("normal"));
};

/** How many bytes of the media are read to find its length. */
const mediaLimit = 4_096;

/** The assumed length of media, in seconds. */
const assumedMediaSeconds = 5;

/** The tone that stands for media in the recording. */
const mediaHertz = 350;

/** Milliseconds of speech for each character, and at least. */
const characterDuration = 65;
const minDuration = 500;

/**
 * How long a text is spoken, in milliseconds: the same at each carrier. White space counts as one character between words.
 *
 * @param text - without markup such as SSML
 */
const speechDuration = (text: string): number =>
  Math.max(minDuration, text.trim().replace(/\s+/g, " ").length * characterDuration);

/**
 * Requests the head of some media, and returns its length in milliseconds: the media is not decoded.
 *
 * @param signal - aborts the request
 * @throws {FlowError} when there is no such media
 */
const mediaDuration = async (
  call: Call,
  { step, field, url, headers, code }: MediaSource,
  signal: AbortSignal,
  request: Requester,
): Promise<number> => {
  const init = { headers: { ...(await headers?.()), Range: `bytes=0-${mediaLimit - 1}` } };
  const rules = { limit: mediaLimit, redirects: "any", reach: call.reach, signal } as const;
  call.warnOfPlain(url);
  const { response, body, error } = await request(url, init, rules);
  if (signal.aborted) return 0;
  if (!response || !body) throw new FlowError(step, field, `gave no answer: ${error}`, code);
  if (!response.ok) throw new FlowError(step, field, `answered HTTP ${response.status}`, code);
  const range = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  const total = range ?? response.headers.get("Content-Length");
  const seconds = wavSeconds(body.bytes, total ? Number(total) : undefined) ?? assumedMediaSeconds;
  return Math.round(seconds * 1000);
};

/** How long a second leg lasts unless somebody hangs up, in milliseconds. */
const conversation = 5_000;

/** The tone that stands for the second leg in the recording. */
const secondLegHertz = 520;

/** How long the other participant of a conference needs to join, in milliseconds. */
const joinDelay = 1_000;

const answers = (to: string): boolean => scenarioOf(to).outcome.outcome === "answer";

/** Calls another number, by the same scenarios as a call, and connects the two for a while. */
const dialSecondLeg = async (
  call: Call,
  dialling: Dialling,
  ringing: Ringing,
): Promise<Dialled> => {
  const { to, record, signal, maxDuration = Number.POSITIVE_INFINITY } = dialling;
  const leg = new SecondLeg(call, dialling);
  const { outcome } = scenarioOf(to);
  await dialLeg(leg, outcome, ringing);
  if (leg.state !== "answered") return { reason: leg.reason };
  const from = call.talkTime;
  const { hangUpAfter = conversation } = outcome.outcome === "answer" ? outcome : {};
  if (!record) call.recording.pause(from);
  const length = hangUpAfter === "midway" ? conversation / 2 : hangUpAfter;
  const until = from + Math.min(length, maxDuration);
  const tone = call.recording.media.openTone(secondLegHertz, from, until);
  await call.waitUntil(until, () => !signal.aborted);
  leg.transition("normal");
  tone.to = call.talkTime;
  call.recording.media.closeTone(tone);
  if (!record) call.recording.resume(call.talkTime);
  return { reason: leg.reason, talkTime: call.talkTime - from };
};

/** Sounds keys from now on; `w` is a pause. */
const soundKeys = (call: Call, keys: string, keyMs: number): void => {
  const from = call.talkTime;
  for (const [at, key] of [...keys].entries()) {
    if (/[\d*#]/.test(key)) addKeyTone(call.recording.media, key, from + at * keyMs);
  }
};

/** The ends of a simulated line. Nothing is decoded or synthesized: tones stand for texts and media, and their lengths are assumed. */
const simulatedEnds = (call: Call, parts: FlowParts, wait: Line["waitUntil"]): LineEnds => {
  const tone = (hertz: number, duration: number): Sound => ({
    duration,
    play: async (continues) => {
      const from = call.talkTime;
      const { media } = call.recording;
      const sounding = media.openTone(hertz, from, from + duration);
      await wait(from + duration, continues);
      sounding.to = call.talkTime;
      media.closeTone(sounding);
    },
  });
  const silence = (duration: number, begin = () => {}): Sound => ({
    duration,
    play: (continues) => {
      begin();
      return wait(call.talkTime + duration, continues);
    },
  });
  const soundOf = async (part: Part, signal: AbortSignal, times: number): Promise<Sound> => {
    switch (part.type) {
      case "text":
        return tone(mediaHertz, times * speechDuration(part.text));
      case "media":
        return tone(
          mediaHertz,
          times * (await mediaDuration(call, part.source, signal, parts.request)),
        );
      case "pause":
        return silence(times * part.ms);
      case "tone":
        return tone(part.hertz, times * part.ms);
      case "keys": {
        const { keys, keyMs } = part;
        return silence(keys.length * keyMs, () => soundKeys(call, keys, keyMs));
      }
    }
  };
  return {
    recognizesSpeech: true,
    onBegin: (duration) => planHangup(call, duration),
    onRecorded: parts.onRecorded,
    asks: () => parts.onQuestion?.(call),
    load: async (part, signal, times = 1) => {
      const { duration, play } = await soundOf(part, signal, times);
      return {
        duration,
        play: async (continues) => {
          const from = call.talkTime;
          await play(continues);
          parts.onPlayed?.(part, from, call.talkTime);
        },
      };
    },
    dial: (dialling) => {
      const { ringDuration } = parts;
      const { answerTimeout, to, others = [] } = dialling;
      const reached = [to, ...others].find(answers) ?? to;
      return dialSecondLeg(call, { ...dialling, to: reached }, { ringDuration, answerTimeout });
    },
    join: (dialling) => {
      const answerTimeout = joinDelay;
      return dialSecondLeg(
        call,
        { ...dialling, answerTimeout },
        { ringDuration: joinDelay, answerTimeout },
      );
    },
  };
};

/** The line of a simulated call. */
export const simulatedLine = (call: Call, parts: FlowParts): Line =>
  callLine(call, parts, (_, wait) => simulatedEnds(call, parts, wait));
