import type { Agent, AgentEvent, Codec, Formats, Frame, Line, ToolResult } from "../agent.ts";
import { offered, type Tools } from "../tool.ts";
import { type AgentOptions, checkOptions, keyOf } from "./key.ts";
import { frameOf, type Message, messageIn, text } from "./message.ts";

/** What `deepgram` takes. */
export interface DeepgramOptions extends AgentOptions {
  /** What the agent is to do, and that it is a machine. */
  readonly instructions?: string | undefined;
  /**
   * Which voice it speaks with.
   *
   * @defaultValue `"aura-2-thalia-en"`
   */
  readonly voice?: string | undefined;
  /**
   * The language model, one of OpenAI's; `settings` takes another provider's.
   *
   * @defaultValue `"gpt-4o-mini"`
   */
  readonly model?: string | undefined;
  /** What it says first, word for word; left out, the callee begins. */
  readonly greeting?: string | undefined;
  /** What it may do; `hang_up` is built in. */
  readonly tools?: Tools | undefined;
  /** More of the service's `agent` settings, such as `listen`: they win over the ones above. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/** Messages after which binary ones belong to a new answer. */
const beginnings: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "AgentThinking",
  "AgentStartedSpeaking",
  "AgentAudioDone",
]);

class VoiceAgentCodec implements Codec {
  readonly formats: Formats;
  readonly keepAlive = { after: 8000, frame: frameOf({ type: "KeepAlive" }) };
  readonly #options: DeepgramOptions;
  #isReady = false;
  #isAnswered = false;
  /** Whether what comes still belongs to what was interrupted. */
  #isStale = false;

  constructor(options: DeepgramOptions, { sample_rate }: Line) {
    const format = { encoding: "pcm", sample_rate } as const;
    this.formats = { hears: format, speaks: format };
    this.#options = options;
  }

  open(): readonly Frame[] {
    const { instructions, voice = "aura-2-thalia-en", model = "gpt-4o-mini" } = this.#options;
    const { tools, settings } = this.#options;
    const { sample_rate } = this.formats.hears;
    const think = {
      provider: { type: "open_ai", model },
      prompt: instructions,
      functions: offered(tools),
    };
    return [
      frameOf({
        type: "Settings",
        audio: {
          input: { encoding: "linear16", sample_rate },
          output: { encoding: "linear16", sample_rate, container: "none" },
        },
        agent: {
          listen: { provider: { type: "deepgram", version: "v1", model: "nova-3" } },
          think,
          speak: { provider: { type: "deepgram", model: voice } },
          ...settings,
        },
      }),
    ];
  }

  answered(): readonly Frame[] {
    this.#isAnswered = true;
    return this.#isReady ? this.#greet() : [];
  }

  /** Not among the settings: the telephone may ring for a while after those. */
  #greet(): readonly Frame[] {
    const { greeting } = this.#options;
    return greeting ? [frameOf({ type: "InjectAgentMessage", message: greeting })] : [];
  }

  hear(audio: Uint8Array<ArrayBuffer>): readonly Frame[] {
    return [audio];
  }

  read(frame: Frame): readonly AgentEvent[] {
    if (typeof frame !== "string") {
      return this.#isStale ? [] : [{ type: "audio", audio: frame }];
    }
    const message = messageIn(frame);
    const type = text(message, "type");
    const isSaid = type === "ConversationText" && message.role === "assistant";
    if (isSaid || beginnings.has(type)) this.#isStale = false;
    return this.#readers[type]?.(message) ?? [];
  }

  readonly #readers: Readonly<Record<string, (message: Message) => readonly AgentEvent[]>> = {
    SettingsApplied: () => {
      this.#isReady = true;
      const frames = this.#isAnswered ? this.#greet() : [];
      const begins = this.#options.greeting ? "agent" : "callee";
      return [
        { type: "ready", begins },
        ...(frames.length ? [{ type: "send", frames } as const] : []),
      ];
    },
    UserStartedSpeaking: () => {
      this.#isStale = true;
      return [{ type: "interrupted" }];
    },
    AgentAudioDone: () => [{ type: "done" }],
    ConversationText: (message) => [
      {
        type: "transcript",
        who: message.role === "user" ? "callee" : "agent",
        text: text(message, "content"),
        final: true,
      },
    ],
    FunctionCallRequest: ({ functions }) =>
      [functions].flat().flatMap((wish): AgentEvent[] => {
        const { id, name, arguments: given, client_side } = Object(wish);
        if (client_side === false) return [];
        return [{ type: "tool", id: String(id), name: String(name), arguments: given }];
      }),
    FunctionCallCancelled: ({ functions }) =>
      [functions].flat().map((wish) => ({ type: "tool_cancelled", id: String(Object(wish).id) })),
    Error: (message) => [{ type: "error", code: text(message, "code") }],
    Warning: (message) => [{ type: "error", code: text(message, "code") }],
  };

  /** The service has found it out by itself. */
  interrupted(): readonly Frame[] {
    return [];
  }

  toolResult({ id, name, output }: ToolResult): readonly Frame[] {
    return [frameOf({ type: "FunctionCallResponse", id, name, content: output })];
  }
}

/**
 * A voice agent of Deepgram. Its audio is the stream's: nothing is converted.
 *
 * @param options - the key, and what the agent is to do
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent that begins by itself
 * ```ts
 * import { deepgram } from "outdial/agents";
 *
 * const agent = deepgram({
 *   apiKey: "dg-key",
 *   instructions: "You ask whether the parcel has come.",
 *   greeting: "Hello, this is a machine that calls for the parcel service.",
 * });
 * console.log(agent.name); // deepgram
 * ```
 * @see docs/agents.md
 */
export const deepgram = (options: DeepgramOptions): Agent => {
  checkOptions(options);
  const { url = "wss://agent.deepgram.com/v1/agent/converse", tools } = options;
  return {
    name: "deepgram",
    tools,
    address: async () => {
      const key = await keyOf(options);
      return { url, headers: { Authorization: `Token ${key}` }, protocols: ["token", key] };
    },
    codec: (line) => new VoiceAgentCodec(options, line),
  };
};
