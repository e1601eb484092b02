import { base64, decoded } from "../../bytes/base64.ts";
import type { Agent, AgentEvent, Codec, Formats, Frame, Line, ToolResult } from "../agent.ts";
import { offered, type Tools } from "../tool.ts";
import { type AgentOptions, checkOptions, keyOf } from "./key.ts";
import { frameOf, type Message, messageIn, part, text } from "./message.ts";

/** What `gptLive` takes. */
export interface GptLiveOptions extends AgentOptions {
  /** What the agent is to do, and that it is a machine. */
  readonly instructions?: string | undefined;
  /**
   * Which voice it speaks with.
   *
   * @defaultValue `"marin"`
   */
  readonly voice?: string | undefined;
  /**
   * Which model it is.
   *
   * @defaultValue `"gpt-live-1"`
   */
  readonly model?: string | undefined;
  /** What it says first, in about these words; left out, it begins as it likes. */
  readonly greeting?: string | undefined;
  /** What it may do, by way of the model that it asks to; `hang_up` is built in. */
  readonly tools?: Tools | undefined;
  /**
   * The model that it asks to use the tools.
   *
   * @defaultValue `"gpt-5-mini"`
   */
  readonly delegate?: string | undefined;
}

class LiveCodec implements Codec {
  readonly continuous = true;
  readonly formats: Formats;
  readonly #options: GptLiveOptions;
  readonly #asked = new Set<string>();
  #owes = false;

  constructor(options: GptLiveOptions, { sample_rate }: Line) {
    const encoding = sample_rate === 8000 ? "ulaw" : "pcm";
    this.formats = { hears: { encoding, sample_rate }, speaks: { encoding, sample_rate } };
    this.#options = options;
  }

  /** Nothing: a session costs from its start, and it speaks from then on. */
  open(): readonly Frame[] {
    return [];
  }

  answered(): readonly Frame[] {
    const { model = "gpt-live-1", instructions, voice = "marin", tools } = this.#options;
    const { delegate = "gpt-5-mini" } = this.#options;
    const { encoding, sample_rate: rate } = this.formats.hears;
    const session = {
      model,
      instructions,
      audio: {
        format: { type: encoding === "ulaw" ? "audio/pcmu" : "audio/pcm", rate },
        output: { voice },
      },
      delegation: {
        type: "responses",
        responses: {
          model: delegate,
          tools: offered(tools).map((tool) => ({ type: "function", strict: false, ...tool })),
        },
      },
    };
    return [frameOf({ type: "session.start", session })];
  }

  hear(audio: Uint8Array): readonly Frame[] {
    return [frameOf({ type: "session.input_audio.append", audio: base64(audio) })];
  }

  read(frame: Frame): readonly AgentEvent[] {
    const message = messageIn(frame);
    return this.#readers[text(message, "type")]?.(message) ?? [];
  }

  readonly #readers: Readonly<Record<string, (message: Message) => readonly AgentEvent[]>> = {
    "session.started": () => {
      const { greeting } = this.#options;
      if (!greeting) return [{ type: "ready" }];
      const content = `Begin the call with: ${greeting}`;
      const greet = { type: "session.commentary.append", content, delegation_id: null };
      return [{ type: "ready" }, { type: "send", frames: [frameOf(greet)] }];
    },
    "session.output_audio.delta": (message) => [
      { type: "audio", audio: decoded(text(message, "delta")) },
    ],
    "session.output_transcript.delta": (message) => [
      { type: "transcript", who: "agent", text: text(message, "delta"), final: false },
    ],
    "session.input_transcript.delta": (message) => [
      { type: "speech" },
      { type: "transcript", who: "callee", text: text(message, "delta"), final: false },
    ],
    "response.event": (message) => this.#respond(part(message, "event")),
    "session.closed": ({ reason }) => [
      { type: "end", reason: reason === "expired" ? "session_limit" : "agent_ended" },
    ],
    error: (message) => {
      const code = text(part(message, "error"), "code");
      const events: AgentEvent[] = [{ type: "error", code }];
      if (code === "invalid_api_key") events.push({ type: "end", reason: "agent_refused" });
      return events;
    },
  };

  /** What the model says that was asked to use the tools. */
  #respond(event: Message): readonly AgentEvent[] {
    const item = part(event, "item");
    if (event.type === "response.output_item.done" && item.type === "function_call") {
      const id = text(item, "call_id");
      this.#asked.add(id);
      return [{ type: "tool", id, name: text(item, "name"), arguments: item.arguments }];
    }
    return [];
  }

  /** It yields by itself, and what it doesn't say it hasn't sent. */
  interrupted(): readonly Frame[] {
    return [];
  }

  toolResult({ id, output, reply }: ToolResult): readonly Frame[] {
    this.#asked.delete(id);
    this.#owes ||= reply;
    const item = { type: "function_call_output", call_id: id, output };
    const frames = [frameOf({ type: "response.item.create", item })];
    if (!this.#owes || this.#asked.size > 0) return frames;
    this.#owes = false;
    return [...frames, frameOf({ type: "response.create" })];
  }

  close(): readonly Frame[] {
    return [frameOf({ type: "session.close" })];
  }
}

/**
 * An agent that speaks OpenAI's GPT-Live protocol: it hears while it speaks, and yields by itself. It
 * needs a runtime whose WebSocket sends headers: Node, Deno, Bun or Workers.
 *
 * @param options - the key, and what the agent is to do
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent that listens while it speaks
 * ```ts
 * import { gptLive } from "outdial/agents";
 *
 * const agent = gptLive({ apiKey: "sk-key", instructions: "Say at once that you are a machine." });
 * console.log(agent.name); // gpt-live
 * ```
 * @see docs/agents.md
 */
export const gptLive = (options: GptLiveOptions): Agent => {
  checkOptions(options);
  const { url = "wss://api.openai.com/v1/live/sessions", tools } = options;
  return {
    name: "gpt-live",
    tools,
    address: async () => ({ url, headers: { Authorization: `Bearer ${await keyOf(options)}` } }),
    codec: (line) => new LiveCodec(options, line),
  };
};
