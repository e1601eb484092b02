import { base64, decoded } from "../../bytes/base64.ts";
import { routeOf } from "../../rules/url.ts";
import type { Agent, AgentEvent, Codec, Formats, Frame, ToolResult } from "../agent.ts";
import type { AudioFormat } from "../audio/format.ts";
import { AgentException } from "../exception.ts";
import type { Tools } from "../tool.ts";
import { type AgentOptions, checkOptions, isSocketUrl, keyOf } from "./key.ts";
import { frameOf, type Message, messageIn, part, text } from "./message.ts";

/** What `elevenlabs` takes. */
export interface ElevenLabsOptions extends AgentOptions {
  /**
   * The API's https URL, which gives a signed one to connect to; or a wss URL, which is connected to as it
   * stands, without the key.
   *
   * @defaultValue `"https://api.elevenlabs.io"`
   */
  readonly url?: string | undefined;
  /** Which agent: its voice, its tools and its audio are set at the service. */
  readonly agentId: string;
  /** What the agent is to do instead; the agent must allow to be overridden. */
  readonly instructions?: string | undefined;
  /** What it says first instead; the agent must allow it. */
  readonly greeting?: string | undefined;
  /** Its voice instead; the agent must allow it. */
  readonly voice?: string | undefined;
  /** What fills the gaps in its texts. */
  readonly variables?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The client tools that are set at the service; one of the name `hang_up` is built in. */
  readonly tools?: Tools | undefined;
}

/** How many events before an interruption may be of what it cut off: an id far from the others is none. */
const recent = 1000;

/** `pcm_16000` or `ulaw_8000`, as the service calls it. */
const formatOf = (name: string): AudioFormat => {
  const [, encoding, rate] = /^(pcm|ulaw)_(\d{4,5})$/.exec(name) ?? [];
  if (!encoding) throw new AgentException("agent_malformed", "format");
  return { encoding: encoding === "pcm" ? "pcm" : "ulaw", sample_rate: Number(rate) };
};

class ConvaiCodec implements Codec {
  formats: Formats | undefined;
  readonly #options: ElevenLabsOptions;
  /** What is older was interrupted. */
  #since = Number.NEGATIVE_INFINITY;

  constructor(options: ElevenLabsOptions) {
    this.#options = options;
  }

  /** Nothing: it speaks as soon as it is begun. */
  open(): readonly Frame[] {
    return [];
  }

  answered(): readonly Frame[] {
    const { instructions, greeting, voice, variables } = this.#options;
    const agent = {
      ...(instructions !== undefined && { prompt: { prompt: instructions } }),
      ...(greeting !== undefined && { first_message: greeting }),
    };
    const override = { agent, ...(voice && { tts: { voice_id: voice } }) };
    return [
      frameOf({
        type: "conversation_initiation_client_data",
        conversation_config_override: override,
        dynamic_variables: variables,
      }),
    ];
  }

  hear(audio: Uint8Array): readonly Frame[] {
    return [frameOf({ user_audio_chunk: base64(audio) })];
  }

  read(frame: Frame): readonly AgentEvent[] {
    const message = messageIn(frame);
    return this.#readers[text(message, "type")]?.(message) ?? [];
  }

  readonly #readers: Readonly<Record<string, (message: Message) => readonly AgentEvent[]>> = {
    conversation_initiation_metadata: (message) => {
      const metadata = part(message, "conversation_initiation_metadata_event");
      this.formats = {
        hears: formatOf(text(metadata, "user_input_audio_format")),
        speaks: formatOf(text(metadata, "agent_output_audio_format")),
      };
      return [{ type: "ready" }];
    },
    audio: (message) => {
      const event = part(message, "audio_event");
      const age = this.#since - Number(event.event_id);
      if (age > 0 && age <= recent) return [];
      return [{ type: "audio", audio: decoded(text(event, "audio_base_64")) }];
    },
    interruption: (message) => {
      const { event_id } = part(message, "interruption_event");
      this.#since = Number(event_id);
      return [{ type: "interrupted" }];
    },
    ping: (message) => {
      const { event_id } = part(message, "ping_event");
      return [{ type: "send", frames: [frameOf({ type: "pong", event_id })] }];
    },
    user_transcript: (message) => {
      const said = text(part(message, "user_transcription_event"), "user_transcript");
      return [{ type: "transcript", who: "callee", text: said, final: true }];
    },
    agent_response: (message) => {
      const said = text(part(message, "agent_response_event"), "agent_response");
      return [{ type: "transcript", who: "agent", text: said, final: true }];
    },
    agent_response_correction: (message) => {
      const event = part(message, "agent_response_correction_event");
      const said = text(event, "corrected_agent_response");
      return [{ type: "transcript", who: "agent", text: said, final: true }];
    },
    client_tool_call: (message) => {
      const call = part(message, "client_tool_call");
      const id = text(call, "tool_call_id");
      return [{ type: "tool", id, name: text(call, "tool_name"), arguments: call.parameters }];
    },
    error: (message) => {
      const { error_type, code } = part(message, "error_event");
      const events: AgentEvent[] = [{ type: "error", code: String(error_type ?? code) }];
      if (error_type === "max_duration_exceeded") {
        events.push({ type: "end", reason: "session_limit" });
      }
      return events;
    },
  };

  /** The service has found it out by itself. */
  interrupted(): readonly Frame[] {
    return [];
  }

  toolResult({ id, output, isError }: ToolResult): readonly Frame[] {
    return [
      frameOf({
        type: "client_tool_result",
        tool_call_id: id,
        result: output,
        is_error: isError,
      }),
    ];
  }
}

/**
 * An agent of ElevenLabs. Set its audio, in both directions, to the stream's: `ulaw_8000` or `pcm_8000` for
 * 8 kHz, `pcm_16000` for 16 kHz; anything else is converted.
 *
 * @param options - the key, and which agent
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent that is set up at the service
 * ```ts
 * import { elevenlabs } from "outdial/agents";
 *
 * const agent = elevenlabs({ apiKey: "xi-key", agentId: "agent_1", variables: { name: "Ann" } });
 * console.log(agent.name); // elevenlabs
 * ```
 * @see docs/agents.md
 */
export const elevenlabs = (options: ElevenLabsOptions): Agent => {
  checkOptions(options, (url) => isSocketUrl(url) || !!routeOf(url));
  const { url = "https://api.elevenlabs.io", agentId, tools } = options;
  const isSigned = isSocketUrl(url);
  const signed = `${url.replace(/\/+$/, "")}/v1/convai/conversation/get-signed-url`;
  return {
    name: "elevenlabs",
    tools,
    address: async () => ({
      url,
      protocols: ["convai"],
      ...(!isSigned && {
        ticket: {
          url: `${signed}?agent_id=${encodeURIComponent(agentId)}`,
          headers: { "xi-api-key": await keyOf(options) },
          read: (answer: unknown) => Object(answer).signed_url,
        },
      }),
    }),
    codec: () => new ConvaiCodec(options),
  };
};
