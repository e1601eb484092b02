import { fail } from "../lib/check.ts";
import type { AnsweringMachine, CallState, Reason, Utterance } from "../performer/line.ts";
import type {
  CallLimits,
  FlowFailure,
  Message,
  RecordedAudio,
  RequestedCall,
  ServedCall,
} from "../server/call.ts";
import {
  type CallFacts,
  type CallRecord,
  type HistoryEntry,
  iso,
  type NewEntry,
} from "../server/history.ts";
import { type Reach, wayOf } from "../server/outgoing.ts";
import { addKeyTone, keyInterval, type ScriptedCallee } from "./callee.ts";
import type { Clock, Timeline } from "./clock.ts";
import { downloadOf } from "./recording/download.ts";
import { firstLoud, lastLoud, Recording } from "./recording/recording.ts";
import type { Outcome } from "./scenarios.ts";

/** What changes the state of a call: the reasons for its end are triggers themselves. */
export type Trigger = "ring" | "answer" | Reason;

const failures = {
  busy: "failed",
  no_answer: "failed",
  rejected: "failed",
  unreachable: "failed",
  canceled: "failed",
  lost: "failed",
} as const;

/** All transitions. */
export const transitions: Readonly<
  Record<CallState, Readonly<Partial<Record<Trigger, CallState>>>>
> = {
  initiated: { ring: "ringing", ...failures },
  ringing: { answer: "answered", ...failures },
  answered: {
    normal: "completed",
    flow_error: "completed",
    max_duration: "completed",
    lost: "completed",
  },
  completed: {},
  failed: {},
};

/** Whether the state is a final one. */
const isOver = (state: CallState): boolean => state === "completed" || state === "failed";

/** The reason for the end of a call, if the trigger is one. */
export const reasonOf = (trigger: Trigger): Reason | undefined =>
  trigger === "ring" || trigger === "answer" ? undefined : trigger;

/** A call, or the second leg that a flow dials. */
export interface Leg {
  readonly state: CallState;
  readonly timeline: Timeline;
  readonly transition: (trigger: Trigger) => boolean;
}

/** How long a telephone rings, in milliseconds. */
export interface Ringing {
  readonly ringDuration: number;
  readonly answerTimeout: number;
}

/** Rings a telephone until the call is answered or fails. */
export const dialLeg = async (leg: Leg, outcome: Outcome, ringing: Ringing): Promise<void> => {
  if (outcome.outcome === "busy" || outcome.outcome === "unreachable") {
    leg.transition(outcome.outcome);
    return;
  }
  leg.transition("ring");
  const { answerTimeout } = ringing;
  if (outcome.outcome === "no_answer") {
    await leg.timeline.wait(outcome.ringDuration ?? answerTimeout);
    leg.transition("no_answer");
    return;
  }
  const { ringDuration = ringing.ringDuration } = outcome;
  await leg.timeline.wait(Math.min(ringDuration, answerTimeout));
  const decision = outcome.outcome === "answer" ? "answer" : "rejected";
  // No transition exists if `answer`, `reject` or `hangup` was called meanwhile.
  leg.transition(ringDuration <= answerTimeout ? decision : "no_answer");
};

/** A request for a call that the API accepted. */
export interface AcceptedRequest {
  readonly id: string;
  readonly params: RequestedCall;
  /** Makes the URL of the recording. */
  readonly recordingUrl: () => string;
  /** Where its URLs may lead. */
  readonly reach: Reach;
  /** The request's own limits, instead of the emulator's options. */
  readonly limits?: CallLimits | undefined;
  /** How much of the applications' audio is kept, in milliseconds: ten minutes by default. */
  readonly kept?: number | undefined;
}

/** What a call reports to the rest of the emulator. */
export interface CallListeners {
  readonly onEntry: (entry: HistoryEntry) => void;
  readonly onState: (call: Call) => void;
}

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** The reason of every abort here. A constant, as an error for each call is costly. */
const overReason = "The call is over";

/** One call: its state, its time and its history. */
export class Call implements ServedCall {
  readonly id: string;
  readonly params: RequestedCall;
  readonly reach: Reach;
  readonly limits: CallLimits;
  /** The time of its line. */
  readonly timeline: Timeline;
  /** The time of its notifications. */
  readonly notificationTimeline: Timeline;
  /** The notifications that are neither delivered nor given up. */
  readonly pendingNotifications: Message[] = [];
  /** Resolves once there are none. */
  delivered: Promise<void> = Promise.resolve();
  /** Aborts when the call is over. */
  readonly over: AbortController = new AbortController();
  /** Aborts when the call is removed by `reset`. */
  readonly removed: AbortController = new AbortController();
  /** The callee, if they have a script. */
  callee: ScriptedCallee | undefined;
  /** Whether the callee hangs up in the middle of the next action. */
  hangsUpMidway = false;
  /** Presses keys on a real line. Absent on a simulated one, where they are tones. */
  keypad: ((keys: string) => void) | undefined;
  /** The machine that answers, if one does. */
  machine: AnsweringMachine | undefined;
  /** When prompts of the flow ended last, in milliseconds since the answer. */
  promptsEndedAt: number | undefined;
  /** Called with each key that the callee presses. */
  readonly keyListeners: Set<(digit: string) => void> = new Set();
  /** Called when the callee begins to say a text. */
  readonly speechListeners: Set<(utterance: Utterance) => void> = new Set();
  readonly #recordingUrl: () => string;
  readonly #kept: number | undefined;
  readonly #listeners: CallListeners;
  readonly #facts: Writable<CallFacts>;
  readonly #history: HistoryEntry[] = [];
  /** The hosts of which is said that they are reached in plain text. */
  readonly #plain = new Set<string>();
  #recording: Recording | undefined;
  /** The recording is made when it is first used: most calls need none. */
  readonly audio: RecordedAudio = {
    pause: (now) => this.recording.pause(now),
    resume: (now) => this.recording.resume(now),
    silence: (side, isSilent, now) => this.recording.silence(side, isSilent, now),
    firstAudible: (from, to) => firstLoud(this.recording, from, to),
    lastAudible: (from, to) => lastLoud(this.recording, from, to),
    download: (part, range, channels) => downloadOf(this.recording, part, range, channels),
  };

  constructor(
    { id, params, recordingUrl, reach, limits = {}, kept }: AcceptedRequest,
    clock: Clock,
    listeners: CallListeners,
  ) {
    const { record = true, flow: _, ...others } = params;
    this.id = id;
    this.params = params;
    this.reach = reach;
    this.limits = limits;
    this.timeline = clock();
    this.notificationTimeline = this.timeline.fork();
    this.#recordingUrl = recordingUrl;
    this.#kept = kept;
    this.#listeners = listeners;
    const initiated_at = this.timeline.now();
    this.#facts = { id, state: "initiated", ...others, record, initiated_at };
  }

  get facts(): CallFacts {
    return this.#facts;
  }

  get recording(): Recording {
    this.#recording ??= new Recording(this.#kept);
    return this.#recording;
  }

  get state(): CallState {
    return this.#facts.state;
  }

  get isOver(): boolean {
    return isOver(this.#facts.state);
  }

  /** Milliseconds from the answer to now, or to the end. */
  get talkTime(): number {
    const { answered_at, ended_at = this.timeline.now() } = this.#facts;
    return ended_at - (answered_at ?? ended_at);
  }

  get flowFailures(): readonly FlowFailure[] {
    return this.#history.flatMap((error, at) =>
      error.type === "flow_error"
        ? [{ error, asked: this.#history.slice(0, at).findLast((entry) => entry.type === "flow") }]
        : [],
    );
  }

  /** Logs and reports the initial state. */
  begin(): void {
    this.#enter();
  }

  /**
   * Makes the transition that a trigger causes in this state.
   *
   * @returns whether there is one
   */
  transition(trigger: Trigger): boolean {
    const facts = this.#facts;
    const state = transitions[facts.state][trigger];
    if (!state) return false;
    const now = this.timeline.now();
    facts.state = state;
    if (state === "answered") facts.answered_at = now;
    if (isOver(state)) {
      facts.ended_at = now;
      this.timeline.stop();
      this.callee?.stop();
      this.over.abort(overReason);
    } else {
      this.timeline.skip();
    }
    const reason = reasonOf(trigger);
    if (reason) facts.reason = reason;
    if (state === "completed") this.#complete();
    this.#enter();
    return true;
  }

  /**
   * Waits until a moment, in milliseconds since the answer, while the callee performs the script.
   *
   * @param continues - whether to continue waiting
   * @param timeline - the timeline to wait on, if it is not that of the line
   */
  async waitUntil(
    until: number,
    continues: () => boolean = () => !this.isOver,
    timeline: Timeline = this.timeline,
  ): Promise<void> {
    const { callee } = this;
    if (!callee) return timeline.wait(until - this.talkTime);
    for (let now = Math.min(until, this.talkTime); ; ) {
      now = Math.min(until, callee.dueAfter(now));
      await timeline.wait(now - this.talkTime);
      if (!continues()) return;
      await callee.advance(now);
      if (now >= until || !continues()) return;
    }
  }

  /** Called when prompts of the flow have ended, or were interrupted. */
  endPrompts(): void {
    this.promptsEndedAt = this.talkTime;
  }

  /** Reports a key that the callee pressed. */
  press(digit: string): void {
    this.log({ type: "press", digit });
    for (const listener of this.keyListeners) listener(digit);
  }

  /** Reports that the callee begins to say a text. */
  addUtterance(utterance: Utterance): void {
    const { text, from, to } = utterance;
    this.log({ type: "say", text, duration: to - from });
    if (this.recording.isSilenced("callee")) return;
    for (const listener of this.speechListeners) listener(utterance);
  }

  /** Presses keys for the callee to hear; `p` is a pause. */
  sendKeys(keys: string): void {
    if (this.keypad) {
      this.keypad(keys);
      return;
    }
    // A script gets them at once, as other audio may be in the way of the tones.
    this.callee?.pressed(keys.replaceAll("p", ""));
    if (this.callee) return;
    const from = this.talkTime;
    for (const [at, key] of [...keys].entries()) {
      if (key !== "p") addKeyTone(this.recording.media, key, from + at * keyInterval);
    }
  }

  /** Ends the call because its flow can't be followed. */
  fail(flow_error: string): void {
    if (this.isOver) return;
    this.#facts.flow_error = flow_error;
    this.transition("flow_error");
  }

  /** Warns, once for each host, of a URL that is requested in plain text from another machine. */
  warnOfPlain(url: string): void {
    const way = wayOf(url, url.length);
    if (way !== "plain" && way !== "private") return;
    const { host } = new URL(url);
    if (this.#plain.has(host)) return;
    this.#plain.add(host);
    const text = `${host} is asked by plain http, as the carrier does: whoever is between can read and change it. Give https.`;
    this.log({ type: "note", text });
  }

  /** Adds an entry to the history, unless the call was removed. */
  log(entry: NewEntry): void {
    if (this.removed.signal.aborted) return;
    const stamped = { at: iso(this.timeline.now()), call_id: this.id, ...entry };
    this.#history.push(stamped);
    this.#listeners.onEntry(stamped);
  }

  /** Stops everything that is still to happen in the call, without a notification. */
  remove(): void {
    this.timeline.stop();
    this.callee?.stop();
    this.notificationTimeline.stop();
    this.over.abort(overReason);
    this.removed.abort(overReason);
  }

  /** A copy of the call's facts and of its history so far. */
  toRecord(): CallRecord {
    return { ...this.#facts, history: [...this.#history] };
  }

  #complete(): void {
    const facts = this.#facts;
    facts.duration = Math.round(this.talkTime / 1000);
    if (!facts.record) return;
    const url = this.#recordingUrl();
    facts.recording_url = url;
    this.log({ type: "recording", url, seconds: this.talkTime / 1000 });
  }

  #enter(): void {
    const { state, reason } = this.#facts;
    this.log({ type: "state", state, ...(reason && { reason }) });
    this.#listeners.onState(this);
  }
}

/** A call, and the promise of its end. */
interface RegisteredCall {
  readonly call: Call;
  readonly ended: Promise<CallRecord>;
}

/** The calls that an emulator knows: all that are not over, and the latest of those that are. */
export class CallRegistry {
  readonly #keep: number;
  #entries = new Map<string, RegisteredCall>();
  /** The ids of the calls that are over, the oldest at `#first`. */
  #over: string[] = [];
  #first = 0;

  /** @param keep - how many ended calls are kept */
  constructor(keep: number) {
    this.#keep = keep;
  }

  /** @param done - resolves when nothing more will happen to the call */
  add(call: Call, done: Promise<void>): void {
    const ended = done.then(() => {
      const record = call.toRecord();
      if (this.#entries.get(call.id) === entry) this.#retire(call.id);
      return record;
    });
    // `ended` rejects for whoever awaits it; an unhandled rejection would end the process.
    ended.catch(() => {});
    const entry: RegisteredCall = { call, ended };
    this.#entries.set(call.id, entry);
  }

  get(id: string): Call | undefined {
    return this.#entries.get(id)?.call;
  }

  all(): readonly Call[] {
    return [...this.#entries.values()].map(({ call }) => call);
  }

  /** @throws {BadParametersException} when no such call is known */
  async ended(id: string): Promise<CallRecord> {
    const entry = this.#entries.get(id);
    if (entry) return entry.ended;
    return fail("id", "is not of a call here, or of one that ended too long ago");
  }

  /** Resolves when all current calls have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#entries.values()].map(({ ended }) => ended));
  }

  /** Removes all calls. */
  clear(): void {
    for (const { call } of this.#entries.values()) call.remove();
    this.#entries.clear();
    this.#over = [];
    this.#first = 0;
  }

  #retire(id: string): void {
    this.#over.push(id);
    if (this.#over.length - this.#first <= this.#keep) return;
    this.#entries.delete(this.#over[this.#first++] ?? "");
    // In batches, as a shift moves the whole array.
    if (this.#first < 1_000 || this.#first * 2 < this.#over.length) return;
    this.#over = this.#over.slice(this.#first);
    this.#first = 0;
  }
}
