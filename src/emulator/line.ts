import {
  type Call,
  dialLeg,
  type Leg,
  type Message,
  type Ringing,
  reasonOf,
  type Trigger,
  transitions,
} from "./call.ts";
import type { Timeline } from "./clock.ts";
import type { CallState, Reason } from "./history.ts";
import type { NewId } from "./ids.ts";
import type { SocketConstructor } from "./options.ts";
import type { Requester } from "./outgoing.ts";
import type { Mixing, Recording } from "./recording/recording.ts";
import { wavSeconds } from "./recording/wav.ts";
import { scenarioOf } from "./scenarios.ts";

/** Some of the callee's audio on its way to a media socket. */
interface LineAudio {
  readonly samples: Int16Array;
  /** The first sample, since the answer. */
  readonly first: number;
  /** All of the call, such as what the line sends back as an echo. */
  readonly recording: Recording;
  readonly mixing: Mixing;
}

/** What a bad line makes of the callee's audio; nothing where it is lost. */
export type Impairment = (audio: LineAudio) => Int16Array | undefined;

/** The part of a WebSocket that a stream needs. */
export interface StreamSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  binaryType: string;
  send(message: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  addEventListener(
    type: "open" | "message" | "close" | "error",
    listener: (event: { readonly data?: unknown }) => void,
  ): void;
}

/** What the steps of a flow need of the emulator. */
export interface FlowParts extends Ringing {
  readonly accountId: string;
  readonly request: Requester;
  readonly newId: NewId;
  /** `undefined` where the platform has none. */
  readonly WebSocket: SocketConstructor | undefined;
  /** Milliseconds of real time for each response of an application. */
  readonly responseTimeout: number;
  /** Whose time it is: on the instant clock a media socket needs `untimedMedia`. */
  readonly clock: "real" | "instant";
  readonly untimedMedia?: boolean | undefined;
  /** Opens a simulated socket, in the place of `WebSocket`. */
  readonly openSocket?: ((url: string) => StreamSocket) | undefined;
  /** Called with each frame of the callee's audio: when it is sent, since the answer, and by how much it is late, in ms. */
  readonly onFrame?: ((ms: number, late: number) => void) | undefined;
  /** How much of the applications' audio is kept of a call, in milliseconds: ten minutes by default. */
  readonly kept?: number | undefined;
  /** Called when an application sends more than that: it is dropped. */
  readonly onUnkept?: (() => void) | undefined;
  /** Called when prompts of the flow have ended, and keys are taken. */
  readonly onQuestion?: ((call: Call) => void) | undefined;
  /** Absent on a line without faults. */
  readonly impair?: Impairment | undefined;
  /** Whether a frame of 20 ms of the application's audio is lost, by its index since the answer. */
  readonly isLost?: ((frame: number) => boolean) | undefined;
  /** Sends notifications of a call, after those that are pending. */
  readonly notify: (call: Call, messages: readonly Message[]) => void;
}

/** What a simulated line has that the emulator's own has not. */
export type LineParts = Pick<
  FlowParts,
  "openSocket" | "impair" | "isLost" | "onFrame" | "onQuestion" | "kept" | "onUnkept"
>;

/** A flow can't be followed: the step, its field, and why. */
export class FlowError extends Error {
  override readonly name = "FlowError" as const;
  readonly step: number;
  /** The field, such as `flow_url` or `on_busy.media_url`. */
  readonly field: string;
  /** The carrier's code for it, if it has one. */
  readonly code: number | undefined;

  /** @param rule - the end of a sentence that starts with the field */
  constructor(step: number, field: string, rule: string, code?: number) {
    super(`step ${step}: ${field} ${rule}`);
    this.step = step;
    this.field = field;
    this.code = code;
  }
}

/** The assumed length of an action whose length is not known, in milliseconds. */
const assumedDuration = 2_000;

/**
 * Lets a callee who hangs up midway do so in the middle of the first step of the flow.
 *
 * @param duration - milliseconds, if known
 */
export const planHangup = (call: Call, duration: number = assumedDuration): void => {
  if (!call.hangsUpMidway) return;
  call.hangsUpMidway = false;
  call.timeline.after(duration / 2, () => call.transition("normal"));
};

/**
 * Waits until a moment of the call, in milliseconds since the answer, while the callee performs the script.
 *
 * @param continues - whether to continue waiting
 * @param timeline - the timeline to wait on, if it is not that of the line
 */
export const waitUntil = async (
  call: Call,
  until: number,
  continues: () => boolean = () => !call.isOver,
  timeline: Timeline = call.timeline,
): Promise<void> => {
  const { callee } = call;
  if (!callee) return timeline.wait(until - call.talkTime);
  for (let now = Math.min(until, call.talkTime); ; ) {
    now = Math.min(until, callee.dueAfter(now));
    await timeline.wait(now - call.talkTime);
    if (!continues()) return;
    await callee.advance(now);
    if (now >= until || !continues()) return;
  }
};

/** How many bytes of the media are read to find its length. */
const mediaLimit = 4_096;

/** The assumed length of media, in seconds. */
const assumedMediaSeconds = 5;

/** Where the media of a step is. */
export interface MediaSource {
  readonly step: number;
  /** The field that has the URL. */
  readonly field: string;
  readonly url: string;
  readonly signal: AbortSignal;
  /** Headers of a carrier's request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The carrier's code for media that can't be fetched. */
  readonly code?: number | undefined;
}

/** The tone that stands for media in the recording. */
export const mediaHertz = 350;

/** Milliseconds of speech for each character, and at least. */
const characterDuration = 65;
const minDuration = 500;

/**
 * How long a text is spoken, in milliseconds: the same at each carrier. White space counts as one character between words.
 *
 * @param text - without markup such as SSML
 */
export const speechDuration = (text: string): number =>
  Math.max(minDuration, text.trim().replace(/\s+/g, " ").length * characterDuration);

/** How often a prompt is repeated whose `loop` is 0, which means until the call is over. */
export const endlessLoops = 1_000;

/**
 * Requests the head of some media, and returns its length in milliseconds: the media is not decoded.
 *
 * @param signal - aborts the request
 * @throws {FlowError} when there is no such media
 */
export const mediaDuration = async (
  call: Call,
  { step, field, url, signal, headers, code }: MediaSource,
  request: Requester,
): Promise<number> => {
  const init = { headers: { ...headers, Range: `bytes=0-${mediaLimit - 1}` } };
  const rules = { limit: mediaLimit, redirects: "any", local: call.local, signal } as const;
  const { response, body, error } = await request(url, init, rules);
  if (signal.aborted) return 0;
  if (!response || !body) throw new FlowError(step, field, `gave no answer: ${error}`, code);
  if (!response.ok) throw new FlowError(step, field, `answered HTTP ${response.status}`, code);
  const range = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  const total = range ?? response.headers.get("Content-Length");
  const seconds = wavSeconds(body.bytes, total ? Number(total) : undefined) ?? assumedMediaSeconds;
  return Math.round(seconds * 1000);
};

/**
 * Plays a tone to the callee, which stands for media or for spoken text.
 *
 * @param duration - milliseconds
 * @param continues - whether to continue
 */
export const playTone = async (
  call: Call,
  duration: number,
  continues?: () => boolean,
): Promise<void> => {
  const from = call.talkTime;
  const tone = call.recording.media.openTone(mediaHertz, from, from + duration);
  await waitUntil(call, from + duration, continues);
  tone.to = call.talkTime;
  call.recording.media.closeTone(tone);
};

/** The second leg of a call, with the same transitions. It ends with the call at the latest. */
class SecondLeg implements Leg {
  readonly timeline: Timeline;
  readonly #onState: (leg: SecondLeg) => void;
  #state: CallState = "initiated";
  #reason: Reason | undefined;

  /** @param signal - ends the leg */
  constructor(timeline: Timeline, signal: AbortSignal, onState: (leg: SecondLeg) => void) {
    this.timeline = timeline;
    this.#onState = onState;
    onState(this);
    signal.addEventListener("abort", () => {
      if (!this.transition("normal")) this.transition("canceled");
    });
  }

  get state(): CallState {
    return this.#state;
  }

  get reason(): Reason | undefined {
    return this.#reason;
  }

  transition(trigger: Trigger): boolean {
    const state = transitions[this.#state][trigger];
    if (!state) return false;
    this.#state = state;
    this.#reason = reasonOf(trigger);
    this.#onState(this);
    return true;
  }
}

/** How long a second leg lasts unless somebody hangs up, in milliseconds. */
const conversation = 5_000;

/** The tone that stands for the second leg in the recording. */
const secondLegHertz = 520;

/** Whom a flow dials, and for how long. */
export interface Dialling extends Ringing {
  readonly step: number;
  /** E.164 or a `sip:` URI. */
  readonly to: string;
  /** Whether the conversation is recorded. */
  readonly record: boolean;
  /** The longest conversation, in milliseconds. */
  readonly maxDuration?: number | undefined;
  /** Ends the second leg. */
  readonly signal: AbortSignal;
  /** Called with each state of the second leg. */
  readonly onState?: (leg: Pick<Leg, "state"> & { readonly reason: Reason | undefined }) => void;
}

/** How a second leg ended. */
export interface Dialled {
  readonly reason: Reason | undefined;
  /** Milliseconds of conversation; absent when nobody answered. */
  readonly talkTime?: number;
}

/** Calls another number, by the same scenarios as a call, and connects the two for a while. */
export const dialSecondLeg = async (call: Call, dialling: Dialling): Promise<Dialled> => {
  const { step, to, record, signal, onState } = dialling;
  const { maxDuration = Number.POSITIVE_INFINITY } = dialling;
  const leg = new SecondLeg(call.timeline, signal, (changed) => {
    const { state, reason } = changed;
    call.log({ type: "leg", step, to, state, ...(reason && { reason }) });
    onState?.(changed);
  });
  const { outcome } = scenarioOf(to);
  await dialLeg(leg, outcome, dialling);
  if (leg.state !== "answered") return { reason: leg.reason };
  const from = call.talkTime;
  const { hangUpAfter = conversation } = outcome.outcome === "answer" ? outcome : {};
  if (!record) call.recording.pause(from);
  const length = hangUpAfter === "midway" ? conversation / 2 : hangUpAfter;
  const until = from + Math.min(length, maxDuration);
  const tone = call.recording.media.openTone(secondLegHertz, from, until);
  await waitUntil(call, until, () => !signal.aborted);
  leg.transition("normal");
  tone.to = call.talkTime;
  call.recording.media.closeTone(tone);
  if (!record) call.recording.resume(call.talkTime);
  return { reason: leg.reason, talkTime: call.talkTime - from };
};
