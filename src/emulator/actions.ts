import type { Action, Dial, Hangup, Play } from "../flows/actions.ts";
import {
  type Call,
  dialLeg,
  type Leg,
  type Ringing,
  reasonOf,
  type Trigger,
  transitions,
} from "./call.ts";
import type { Timeline } from "./clock.ts";
import type { CallState, Reason } from "./history.ts";
import type { NewId } from "./ids.ts";
import type { Requester } from "./outgoing.ts";
import { wavSeconds } from "./recording/wav.ts";
import { scenarioOf } from "./scenarios.ts";

/** What actions need of the emulator. */
export interface FlowParts extends Ringing {
  readonly accountId: string;
  readonly request: Requester;
  readonly newId: NewId;
  /** `undefined` where the platform has none. */
  readonly WebSocket: (new (url: string) => WebSocket) | undefined;
  /** Milliseconds of real time for each response of an application. */
  readonly responseTimeout: number;
}

/** One action of one call. */
export interface Step<A extends Action = Action> {
  readonly call: Call;
  readonly action: A;
  /** Counts the requests to the flow from 1. */
  readonly step: number;
  /** Where the action is in the flow's response: empty, or such as `on_busy.`. */
  readonly place: string;
}

/** Performs an action, and returns the URL of the next one, if there is one. */
export type Perform<A extends Action> = (
  step: Step<A>,
  parts: FlowParts,
) => Promise<string | undefined>;

/** A flow can't be followed: the step, its field, and why. */
export class FlowError extends Error {
  override readonly name = "FlowError" as const;
  readonly step: number;
  /** The field, such as `flow_url` or `on_busy.media_url`. */
  readonly field: string;

  /** @param rule - the end of a sentence that starts with the field */
  constructor(step: number, field: string, rule: string) {
    super(`step ${step}: ${field} ${rule}`);
    this.step = step;
    this.field = field;
  }
}

/** The assumed length of an action whose length is not known, in milliseconds. */
const assumedDuration = 2_000;

/**
 * Logs the beginning of an action. A callee who hangs up midway does so in the middle of the first one.
 *
 * @param duration - milliseconds, if known
 */
export const begin = ({ call, action, step }: Step, duration?: number): void => {
  call.log({ type: "action", step, action, ...(duration !== undefined && { duration }) });
  if (!call.hangsUpMidway) return;
  call.hangsUpMidway = false;
  call.timeline.after((duration ?? assumedDuration) / 2, () => call.transition("normal"));
};

/**
 * Waits until a moment of the call, in milliseconds since the answer, while the callee performs the script.
 *
 * @param goesOn - whether to continue waiting
 */
export const waitUntil = async (
  call: Call,
  until: number,
  goesOn: () => boolean = () => !call.isOver,
): Promise<void> => {
  const { callee, timeline } = call;
  if (!callee) return timeline.wait(until - call.talkTime);
  for (let now = Math.min(until, call.talkTime); ; ) {
    now = Math.min(until, callee.dueAfter(now));
    await timeline.wait(now - call.talkTime);
    if (!goesOn()) return;
    await callee.advance(now);
    if (now >= until) return;
  }
};

/** Ends the call. */
export const hangup: Perform<Hangup> = async (step) => {
  begin(step);
  return undefined;
};

/** How many bytes of the media are read to find its length. */
const mediaLimit = 4_096;

/** The assumed length of media, in seconds. */
const assumedMediaSeconds = 5;

/** The tone that stands for media in the recording. */
const mediaHertz = 350;

/** Plays for as long as the head of the media says; the media is not decoded. */
export const play: Perform<Play> = async (playing, { request }) => {
  const { call, step, place } = playing;
  const { media_url, flow_url } = playing.action;
  const { signal } = call.over;
  const init = { headers: { Range: `bytes=0-${mediaLimit - 1}` } };
  const rules = { limit: mediaLimit, redirects: "any", local: call.local, signal } as const;
  const { response, body, error } = await request(media_url, init, rules);
  if (signal.aborted) return;
  const field = `${place}media_url`;
  if (!response || !body) throw new FlowError(step, field, `gave no answer: ${error}`);
  if (!response.ok) throw new FlowError(step, field, `answered HTTP ${response.status}`);
  const range = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  const total = range ?? response.headers.get("Content-Length");
  const seconds = wavSeconds(body.bytes, total ? Number(total) : undefined) ?? assumedMediaSeconds;
  const duration = Math.round(seconds * 1000);
  begin(playing, duration);
  const from = call.talkTime;
  const tone = call.recording.media.openTone(mediaHertz, from, from + duration);
  await waitUntil(call, from + duration);
  tone.to = call.talkTime;
  return flow_url;
};

/** The second leg of a call, with the same transitions. It ends with the call at the latest. */
class SecondLeg implements Leg {
  readonly timeline: Timeline;
  readonly #onState: (leg: SecondLeg) => void;
  #state: CallState = "initiated";
  #reason: Reason | undefined;

  constructor(call: Call, onState: (leg: SecondLeg) => void) {
    this.timeline = call.timeline;
    this.#onState = onState;
    onState(this);
    call.over.signal.addEventListener("abort", () => {
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

/** The branch of a `dial` for each reason why its second leg failed. */
const branches: Readonly<Partial<Record<Reason, "on_busy" | "on_no_answer" | "on_failure">>> = {
  busy: "on_busy",
  no_answer: "on_no_answer",
  rejected: "on_failure",
  unreachable: "on_failure",
};

/** Calls another number, by the same scenarios as a call, and connects the two for a while. */
export const dial: Perform<Dial> = async (dialling, parts) => {
  const { call, action, step } = dialling;
  const { to, timeout = 30, record = false, flow_url } = action;
  begin(dialling);
  const leg = new SecondLeg(call, ({ state, reason }) =>
    call.log({ type: "leg", step, to, state, ...(reason && { reason }) }),
  );
  const { outcome } = scenarioOf(to);
  await dialLeg(leg, outcome, { ringDuration: parts.ringDuration, answerTimeout: timeout * 1000 });
  if (leg.state === "answered") {
    const from = call.talkTime;
    const { hangUpAfter = conversation } = outcome.outcome === "answer" ? outcome : {};
    if (!record) call.recording.pause(from);
    const until = from + (hangUpAfter === "midway" ? conversation / 2 : hangUpAfter);
    const tone = call.recording.media.openTone(secondLegHertz, from, until);
    await waitUntil(call, until);
    leg.transition("normal");
    tone.to = call.talkTime;
    if (!record) call.recording.resume(call.talkTime);
  }
  const branch = leg.reason && branches[leg.reason];
  const next = branch && action[branch];
  if (!next || call.isOver) return flow_url;
  if (next.action === "hangup") return;
  return play({ call, action: next, step, place: `${branch}.` }, parts);
};
