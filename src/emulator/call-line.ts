import {
  type Background,
  type CallState,
  type Dialling,
  FlowError,
  type Line,
  type Reason,
} from "../performer/line.ts";
import { type Call, type Leg, reasonOf, type Trigger, transitions } from "./call.ts";
import type { Timeline } from "./clock.ts";
import { lastLoud } from "./recording/recording.ts";
import { type LineMedia, runStream, type StreamParts } from "./stream.ts";

/** What differs between the lines of calls: a simulated one, and one of an exchange. */
export interface LineEnds
  extends Pick<Line, "recognizesSpeech" | "asks" | "load" | "whoAnswered" | "dial" | "join"> {
  /** The media of a real line, once it is connected. */
  readonly media?: () => Promise<LineMedia>;
  /** Called when a step begins, with its duration in milliseconds, if known. */
  readonly onBegin?: (duration: number | undefined) => void;
  /** Called when a recording of the callee has ended. */
  readonly onRecorded?: Line["recorded"] | undefined;
}

/** Makes the ends of a line on a timeline, which `wait` waits on. */
export type MakeEnds = (timeline: Timeline, wait: Line["waitUntil"]) => LineEnds;

/** The line of a call: its time, its history, what is received and its streams. */
export const callLine = (
  call: Call,
  parts: StreamParts,
  makeEnds: MakeEnds,
  timeline: Timeline = call.timeline,
): Line => {
  const wait: Line["waitUntil"] = (until, continues) => call.waitUntil(until, continues, timeline);
  const { onBegin, onRecorded, media, ...ends } = makeEnds(timeline, wait);
  return {
    ...ends,
    get talkTime() {
      return call.talkTime;
    },
    get isOver() {
      return call.isOver;
    },
    over: call.over.signal,
    waitUntil: wait,
    wake: () => call.timeline.skip(),
    begin: (step, doing) => {
      call.log({ ...step, ...doing });
      onBegin?.(doing?.duration);
    },
    logError: ({ step, field, message, code }) =>
      call.log({ type: "flow_error", step, field, message, ...(code !== undefined && { code }) }),
    endPrompts: () => call.endPrompts(),
    recorded: (from, to) => onRecorded?.(from, to),
    listen: ({ onKey, onSpeech }) => {
      if (onKey) call.keyListeners.add(onKey);
      if (onSpeech) call.speechListeners.add(onSpeech);
      return () => {
        if (onKey) call.keyListeners.delete(onKey);
        if (onSpeech) call.speechListeners.delete(onSpeech);
      };
    },
    lastAudible: (from, to) => lastLoud(call.recording, from, to),
    stream: async (socket, signal) =>
      runStream(call, { ...socket, signal, timeline, media: await media?.() }, parts),
    beside: (run) => besideOf(call, run, (forked) => callLine(call, parts, makeEnds, forked)),
  };
};

/** Runs something beside the flow until it is stopped, it ends, or the call is over. */
const besideOf = (
  call: Call,
  run: (line: Line, signal: AbortSignal) => Promise<void>,
  lineOn: (timeline: Timeline) => Line,
): Background => {
  const ending = new AbortController();
  const timeline = call.timeline.fork();
  const line = lineOn(timeline);
  const stop = () => {
    ending.abort();
    timeline.stop();
  };
  call.over.signal.addEventListener("abort", stop);
  const done = timeline
    .run(() => run(line, ending.signal))
    .catch((error) => {
      if (error instanceof FlowError && !ending.signal.aborted) line.logError(error);
    });
  return { stop, done };
};

/** The second leg of a call, with the same transitions. It ends with the call at the latest. */
export class SecondLeg implements Leg {
  readonly timeline: Timeline;
  /** Who is called; of several, the one who has answered. */
  to: string;
  readonly #onState: () => void;
  #state: CallState = "initiated";
  #reason: Reason | undefined;

  constructor(call: Call, { step, to: first, signal, onState }: Omit<Dialling, "answerTimeout">) {
    this.timeline = call.timeline;
    this.to = first;
    this.#onState = () => {
      const { to, state, reason } = this;
      call.log({ type: "leg", step, to, state, ...(reason && { reason }) });
      onState?.(this);
    };
    this.#onState();
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
    this.#onState();
    return true;
  }
}
