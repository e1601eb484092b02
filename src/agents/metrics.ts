import { type MediaClock, processClock } from "../lib/clock.ts";

/** The figures of a tool. */
export interface ToolMetrics {
  /** Calls of it. */
  readonly calls: number;
  /** Calls in which it threw, was late, or didn't exist. */
  readonly failed: number;
  /** The longest call, in ms. */
  readonly slowest: number;
}

/** The figures of a session. Times are in milliseconds. */
export interface SessionMetrics {
  /** From the start of the stream to the agent's first audio; absent if there was none. */
  readonly firstAudio?: number | undefined;
  /** Interruptions by the callee, and how quickly the agent fell silent. */
  readonly interruptions: {
    readonly count: number;
    /** The longest from the agent's message to the `clear` that was sent. */
    readonly slowest: number;
    /** Audio that had come from the agent and was not played. */
    readonly truncated: number;
  };
  /** Messages of audio that were sent to the line. */
  readonly messages: {
    readonly sent: number;
    /** Those that came after the line had fallen silent within a response. */
    readonly late: number;
    /** The longest such silence. */
    readonly latest: number;
  };
  /** Audio in both directions. */
  readonly audio: {
    /** Audio of the callee. */
    readonly input: number;
    /** Audio of the callee that the agent never got, because it was not ready for long. */
    readonly inputLost: number;
    /** Audio of the agent that was not sent: it was interrupted, silence of a backlog, or too much. */
    readonly dropped: number;
  };
  /** Each tool, by its name. */
  readonly tools: Readonly<Record<string, ToolMetrics>>;
}

/** Counts one session. */
export class Meter {
  readonly #clock: MediaClock;
  #startedAt = 0;
  #firstAudio: number | undefined;
  readonly interruptions = { count: 0, slowest: 0, truncated: 0 };
  readonly messages = { sent: 0, late: 0, latest: 0 };
  readonly audio = { input: 0, inputLost: 0, dropped: 0 };
  readonly #tools: Record<string, ToolMetrics> = Object.create(null);

  constructor(clock: MediaClock = processClock) {
    this.#clock = clock;
  }

  /** Milliseconds since the start of the stream. */
  get ms(): number {
    return this.#clock.now() - this.#startedAt;
  }

  started(): void {
    this.#startedAt = this.#clock.now();
  }

  sent(late: number): void {
    this.#firstAudio ??= this.ms;
    this.messages.sent++;
    if (late > 0) this.messages.late++;
    this.messages.latest = Math.max(this.messages.latest, late);
  }

  interrupted(took: number, truncated: number): void {
    this.interruptions.count++;
    this.interruptions.slowest = Math.max(this.interruptions.slowest, took);
    this.interruptions.truncated += truncated;
  }

  toolCalled(tool: string, took: number, hasFailed: boolean): void {
    const { calls = 0, failed = 0, slowest = 0 } = this.#tools[tool] ?? {};
    this.#tools[tool] = {
      calls: calls + 1,
      failed: failed + (hasFailed ? 1 : 0),
      slowest: Math.max(slowest, took),
    };
  }

  get metrics(): SessionMetrics {
    const { interruptions, messages, audio } = this;
    return structuredClone({
      firstAudio: this.#firstAudio,
      interruptions,
      messages,
      audio,
      tools: this.#tools,
    });
  }
}
