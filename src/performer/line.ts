import type { WireAction } from "../flows/wire.ts";
import type { MediaSocket } from "./media-socket.ts";

/** Something that the callee says. Times are in milliseconds since the answer. */
export interface Utterance {
  readonly text: string;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly from: number;
  readonly to: number;
}

/** What a speech recognizer has got so far: all that the callee began to say while it listened. */
export class Utterances {
  readonly #utterances: Utterance[] = [];

  add(utterance: Utterance): void {
    this.#utterances.push(utterance);
  }

  get isEmpty(): boolean {
    return this.#utterances.length === 0;
  }

  /** How many utterances there are. */
  get count(): number {
    return this.#utterances.length;
  }

  /** When the first utterance began, in milliseconds since the answer. */
  get from(): number {
    return this.#utterances[0]?.from ?? 0;
  }

  /** When the latest utterance ends, in milliseconds since the answer. */
  get to(): number {
    return this.#utterances.at(-1)?.to ?? 0;
  }

  get text(): string {
    return this.#utterances.map(({ text }) => text).join(" ");
  }

  /** That of the least certain utterance. */
  get confidence(): number {
    return Math.min(...this.#utterances.map(({ confidence }) => confidence));
  }
}

/** The state of a call, or of the second leg that a flow dials. */
export type CallState = "initiated" | "ringing" | "answered" | "completed" | "failed";

/** Why a call failed before anyone answered; `lost`: nobody saw its end. */
export type FailureReason = "busy" | "no_answer" | "rejected" | "unreachable" | "canceled" | "lost";

/** Why an answered call ended; `lost`: nobody saw its end. */
export type EndReason = "normal" | "flow_error" | "max_duration" | "lost";

/** Why a call is over. */
export type Reason = FailureReason | EndReason;

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

/** The beginning of an action or a verb of a flow, for the history of its call. */
export type Beginning =
  | { readonly type: "action"; readonly step: number; readonly action: WireAction }
  | {
      readonly type: "verb";
      readonly step: number;
      readonly verb: string;
      readonly attributes: Readonly<Record<string, string>>;
      readonly text?: string;
    };

/** What the callee is made to hear, as a history has it. */
export type Played =
  | { readonly text: string; readonly language?: string }
  | { readonly media_url: string }
  | { readonly pause_ms: number }
  /** Keys that the application presses. */
  | { readonly keys: string };

/** What a step does on the line, in the same words for each carrier. */
export interface Doing {
  /** What is played, in order. */
  readonly plays?: readonly Played[];
  /** What is taken from the callee. */
  readonly takes?: readonly ("keys" | "speech")[];
  /** Whether it records the callee. */
  readonly records?: true;
  /** Who is called: E.164, or a URI of the scheme `sip:`, `client:` or `conference:`. */
  readonly dials?: string;
  /** The URL of the media socket. */
  readonly streams?: string;
  /** How long it lasts, in milliseconds, if that is known. */
  readonly duration?: number;
}

/** Where the media of a step is. */
export interface MediaSource {
  readonly step: number;
  /** The field that has the URL. */
  readonly field: string;
  readonly url: string;
  /** Headers of a carrier's request; they may be signed by Web Crypto. */
  readonly headers?: () =>
    | Readonly<Record<string, string>>
    | Promise<Readonly<Record<string, string>>>;
  /** The carrier's code for media that can't be fetched. */
  readonly code?: number | undefined;
}

/** What the callee is made to hear. Durations are in milliseconds. */
export type Part =
  /** Spoken words, without markup such as SSML, and the language in which they are asked for. */
  | { readonly type: "text"; readonly text: string; readonly language?: string | undefined }
  | { readonly type: "media"; readonly source: MediaSource }
  | { readonly type: "pause"; readonly ms: number }
  | { readonly type: "tone"; readonly hertz: number; readonly ms: number }
  /** Keys that the application presses, `w` is a pause: each takes `keyMs`. */
  | { readonly type: "keys"; readonly keys: string; readonly keyMs: number };

/** A part that is ready to be played. */
export interface Sound {
  /** In milliseconds. */
  readonly duration: number;
  /**
   * Plays it to its end.
   *
   * @param continues - whether to continue
   */
  readonly play: (continues: () => boolean) => Promise<void>;
}

/** What is received from the callee. */
interface InputListeners {
  readonly onKey?: (key: string) => void;
  readonly onSpeech?: (utterance: Utterance) => void;
}

/** The second leg of a call, in one state. */
export interface LegState {
  readonly state: CallState;
  readonly reason: Reason | undefined;
}

/** Whom a flow dials, and for how long. Durations are in milliseconds. */
export interface Dialling {
  readonly step: number;
  /** E.164, or a URI of the scheme `sip:`, `client:` or `conference:`. */
  readonly to: string;
  /** Who is called with it: the first to answer is connected. */
  readonly others?: readonly string[];
  /** Whether the conversation is part of the recording of the call. */
  readonly record: boolean;
  readonly answerTimeout: number;
  readonly maxDuration?: number | undefined;
  /** Ends the second leg. */
  readonly signal: AbortSignal;
  readonly onState?: ((leg: LegState) => void) | undefined;
}

/** How a second leg ended. */
export interface Dialled {
  readonly reason: Reason | undefined;
  /** Milliseconds of conversation; absent when nobody answered. */
  readonly talkTime?: number;
}

/** Something that runs beside the flow. */
export interface Background {
  readonly stop: () => void;
  /** Resolves when it has ended. A {@link FlowError} of it is in the history. */
  readonly done: Promise<void>;
}

/** A machine that answers a call. Times are in milliseconds since the answer. */
export interface AnsweringMachine {
  /** When its greeting is over, and its beep. */
  readonly readyAt: number;
  /** Whether it beeps. */
  readonly beeps: boolean;
}

/** Who has answered. */
export type Answerer = "person" | "unknown" | AnsweringMachine;

/**
 * The telephone line of one answered call, as the performer of its flow needs it: simulated in the emulator, real in an
 * exchange. Times are in milliseconds since the answer.
 */
export interface Line {
  /** Now; when the call is over, its end. */
  readonly talkTime: number;
  readonly isOver: boolean;
  /** Aborts when the call is over. */
  readonly over: AbortSignal;
  /**
   * Waits until a time, while the callee acts.
   *
   * @param continues - whether to continue waiting
   */
  readonly waitUntil: (until: number, continues?: () => boolean) => Promise<void>;
  /** Ends the current wait, so that what it waits for is checked. */
  readonly wake: () => void;
  /** Enters the beginning of a step into the history, with what it does. */
  readonly begin: (step: Beginning, doing?: Doing) => void;
  /** Enters why a step failed that doesn't end the call. */
  readonly logError: (error: FlowError) => void;
  /**
   * Prepares something to play.
   *
   * @param times - how often it is repeated
   * @throws {FlowError} when there is no such media
   */
  readonly load: (part: Part, signal: AbortSignal, times?: number) => Promise<Sound>;
  /** Whether what the callee says becomes text. */
  readonly recognizesSpeech: boolean;
  /** Called when prompts have ended, or were interrupted. */
  readonly endPrompts: () => void;
  /** Called when keys or speech are waited for, and nothing is played. */
  readonly asks: () => void;
  /** Calls the listeners until the returned function is called. */
  readonly listen: (listeners: InputListeners) => () => void;
  /**
   * Called when a recording of the callee has ended.
   *
   * @param to - its end; absent for one that goes on while the flow continues
   */
  readonly recorded: (from: number, to?: number) => void;
  /** When the callee was audible last in a stretch; `undefined` where they were silent. */
  readonly lastAudible: (from: number, to: number) => number | undefined;
  /**
   * Finds out who has answered.
   *
   * @param untilReady - whether it waits until the greeting of a machine is over, and its beep
   */
  readonly whoAnswered: (untilReady: boolean) => Promise<Answerer>;
  /** Calls another telephone, and connects the two. */
  readonly dial: (dialling: Dialling) => Promise<Dialled>;
  /** Lets the callee join a conference, for as long as it lasts. */
  readonly join: (dialling: Omit<Dialling, "answerTimeout">) => Promise<Dialled>;
  /**
   * Connects a media socket, until either side ends it.
   *
   * @throws {FlowError} when it can't be opened, or the application reads nothing
   */
  readonly stream: (socket: MediaSocket, signal: AbortSignal) => Promise<void>;
  /** Runs something beside the flow, on a line whose time is its own. */
  readonly beside: (run: (line: Line, signal: AbortSignal) => Promise<void>) => Background;
}
