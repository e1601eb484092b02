/** How a tool did in a call. */
export interface ToolMetrics {
  /** How often it was asked for. */
  readonly calls: number;
  /** Of those: it threw, was late, or wasn't there. */
  readonly failed: number;
  /** The longest, in ms. */
  readonly slowest: number;
}

/** What a call was like, in milliseconds. */
export interface TalkMetrics {
  /** From the start of the stream to the agent's first audio; absent if there was none. */
  readonly firstWord?: number | undefined;
  /** How often the callee interrupted, and how quickly the agent fell silent. */
  readonly interruptions: {
    readonly count: number;
    /** The longest from the agent's message to the `clear` that was written. */
    readonly slowest: number;
    /** What the agent had said and nobody heard. */
    readonly truncated: number;
  };
  /** What was sent to the line. */
  readonly messages: {
    /** Those with the agent's audio. */
    readonly sent: number;
    /** Those that came after the line had fallen silent within what was said. */
    readonly late: number;
    /** The longest such silence. */
    readonly latest: number;
  };
  /** The voices, in milliseconds. */
  readonly audio: {
    /** What the callee was heard to say. */
    readonly heard: number;
    /** What the callee said and the agent was never given: it wasn't there yet, for long. */
    readonly unheard: number;
    /** What came of the agent and wasn't said: it was interrupted, silence of a backlog, or too much. */
    readonly dropped: number;
  };
  /** Each tool, by its name. */
  readonly tools: Readonly<Record<string, ToolMetrics>>;
}

/** Keeps count of one call: as little as can be told at its end. */
export class Meter {
  #startedAt = 0;
  #firstWord: number | undefined;
  readonly interruptions = { count: 0, slowest: 0, truncated: 0 };
  readonly messages = { sent: 0, late: 0, latest: 0 };
  readonly audio = { heard: 0, unheard: 0, dropped: 0 };
  readonly #tools: Record<string, ToolMetrics> = Object.create(null);

  started(): void {
    this.#startedAt = performance.now();
  }

  sent(late: number): void {
    this.#firstWord ??= performance.now() - this.#startedAt;
    this.messages.sent++;
    if (late > 0) this.messages.late++;
    this.messages.latest = Math.max(this.messages.latest, late);
  }

  interrupted(took: number, truncated: number): void {
    this.interruptions.count++;
    this.interruptions.slowest = Math.max(this.interruptions.slowest, took);
    this.interruptions.truncated += truncated;
  }

  used(tool: string, took: number, hasFailed: boolean): void {
    const { calls = 0, failed = 0, slowest = 0 } = this.#tools[tool] ?? {};
    this.#tools[tool] = {
      calls: calls + 1,
      failed: failed + (hasFailed ? 1 : 0),
      slowest: Math.max(slowest, took),
    };
  }

  get metrics(): TalkMetrics {
    return {
      firstWord: this.#firstWord,
      interruptions: { ...this.interruptions },
      messages: { ...this.messages },
      audio: { ...this.audio },
      tools: { ...this.#tools },
    };
  }
}
