import type { MediaClock } from "../lib/clock.ts";
import { type Summary, summaryOf } from "../lib/summary.ts";

/** The figures of a tool. */
export interface ToolMetrics {
  /** Calls of it. */
  readonly calls: number;
  /** Calls in which it threw, was late, or didn't exist. */
  readonly failed: number;
  /** The longest call, in ms. */
  readonly slowest: number;
}

/** The latencies of the responses to the callee. */
export interface TurnMetrics extends Summary {
  /**
   * How many responses are not among them, since the line was not quiet before they began: the end of the callee's words
   * can't be found on a noisy line, nor where the agent spoke into their words. Absent if there are none.
   */
  readonly notQuiet?: number | undefined;
}

/** The figures of a session. Times are in milliseconds. */
export interface SessionMetrics {
  /** From the start of the stream to the agent's first audio; absent if there was none. */
  readonly firstAudio?: number | undefined;
  /**
   * The responses: from the callee's last audible audio to the agent's next, as this machine gets and sends it. The callee
   * hears each one later, by the network both ways. What they say while the agent speaks on is no turn, and neither is the
   * agent's greeting. What is not louder than the noise of the line is not audible.
   */
  readonly turns: TurnMetrics;
  /** Interruptions by the callee. */
  readonly interruptions: {
    readonly count: number;
    /**
     * The longest from the message in which the agent reports speech to the `clear` that was sent: the time of this process.
     * The callee hears the agent stop later, by the network, and by what the agent takes to notice speech.
     */
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
  /** What the service reports of its own counts; each is absent where it reports none. */
  readonly usage: {
    /** Tokens of the responses, of input and output. */
    readonly tokens?: number | undefined;
    /** Seconds of audio. */
    readonly seconds?: number | undefined;
  };
  /** Each tool, by its name. */
  readonly tools: Readonly<Record<string, ToolMetrics>>;
}

/** Less audible audio of the callee than this is no turn, in ms: a click of the line is shorter. */
const minSpeech = 100;

/** Quiet before each response, in ms: an agent needs longer to notice that the callee has finished. */
const minQuiet = 60;

/** What a message of an agent counts. */
interface Usage {
  readonly type: "usage";
  readonly tokens?: number | undefined;
  readonly seconds?: number | undefined;
  /** Whether it counts from the beginning of the session. */
  readonly total?: boolean | undefined;
}

/** Counts one session. */
export class Meter {
  readonly #clock: MediaClock;
  #startedAt = 0;
  #firstAudio: number | undefined;
  readonly #turns: number[] = [];
  #notQuiet = 0;
  /** Whether the agent begins, has not yet, and has noticed nothing of the callee. */
  isGreeting = false;
  /** Audible audio of the callee since the agent's, in ms, and when it came. */
  #soundMs = 0;
  #soundAt = 0;
  readonly interruptions = { count: 0, slowest: 0, truncated: 0 };
  readonly messages = { sent: 0, late: 0, latest: 0 };
  readonly audio = { input: 0, inputLost: 0, dropped: 0 };
  readonly usage: { tokens?: number; seconds?: number } = {};
  readonly #tools: Record<string, ToolMetrics> = Object.create(null);

  constructor(clock: MediaClock) {
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

  /** The callee is audible, and the agent isn't. */
  sound(ms: number): void {
    this.#soundMs += ms;
    this.#soundAt = this.#clock.now();
  }

  /** Audible audio of the agent has come. Returns how late it is, if it is a response to the callee. */
  responded(): number | undefined {
    const isTurn = this.#soundMs >= minSpeech && !this.isGreeting;
    this.#soundMs = 0;
    this.isGreeting = false;
    if (!isTurn) return;
    const latency = this.#clock.now() - this.#soundAt;
    if (latency < minQuiet) {
      this.#notQuiet++;
      return;
    }
    this.#turns.push(latency);
    return latency;
  }

  /** The service has counted. Returns the tokens so far. */
  used({ total, ...counts }: Usage): number {
    for (const name of ["tokens", "seconds"] as const) {
      const count = counts[name];
      if (count !== undefined) this.usage[name] = count + (total ? 0 : (this.usage[name] ?? 0));
    }
    return this.usage.tokens ?? 0;
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
    const { interruptions, messages, audio, usage } = this;
    return structuredClone({
      firstAudio: this.#firstAudio,
      turns: {
        ...summaryOf(this.#turns),
        notQuiet: this.#notQuiet || undefined,
      },
      interruptions,
      messages,
      audio,
      usage,
      tools: this.#tools,
    });
  }
}
