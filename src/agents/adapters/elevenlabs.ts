import { fail, isRecord, isText } from "../../lib/check.ts";
import { base64, decoded } from "../../lib/encoding.ts";
import { keepNewest } from "../../lib/newest.ts";
import { objectRule, textRule } from "../../lib/rules.ts";
import { routeOf } from "../../lib/url.ts";
import type { Agent, Codec, Formats, Tools } from "../agent.ts";
import type { AudioFormat } from "../audio/resample.ts";
import { isRefusal } from "../problems.ts";
import {
  type AgentOptions,
  abilitiesOf,
  asUser,
  checkAgentOptions,
  type Decoders,
  decodeBy,
  keyOf,
  parseMessage,
  partOf,
  textOf,
  toMessage,
} from "./shared.ts";

/** The options of `elevenlabs`. */
export interface ElevenLabsOptions extends AgentOptions {
  /**
   * The API's https URL, which returns a signed one to connect to; or a wss URL, which is connected to as it stands,
   * without the key.
   *
   * @defaultValue `"https://api.elevenlabs.io"`
   */
  readonly url?: string | undefined;
  /** The agent: its voice, its tools and its audio are configured at the service. */
  readonly agentId: string;
  /** What the agent is to do instead; the agent must allow this override. */
  readonly instructions?: string | undefined;
  /** What it says first instead; the agent must allow this override. */
  readonly greeting?: string | undefined;
  /** Its voice instead; the agent must allow this override. */
  readonly voice?: string | undefined;
  /** Values of the variables in its texts. */
  readonly variables?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The client tools that are configured at the service; one with the name `hang_up` is built in. */
  readonly tools?: Tools | undefined;
}

/** How many ids before an interruption may belong to what it cut off: an id far from the others is none. */
const recent = 1000;

/** The longest beginning of an error's text that is read, in characters. */
const maxError = 1000;

/** A format by the service's name, such as `pcm_16000` or `ulaw_8000`; any other has no valid sample rate. */
const formatOf = (name: string): AudioFormat => {
  const encoding = name.startsWith("pcm") ? "pcm" : "ulaw";
  return { encoding, sampleRate: Number(name.replace(`${encoding}_`, "")) };
};

const createCodec = (options: ElevenLabsOptions): Codec => {
  const { instructions, greeting, voice, variables } = options;
  let formats: Formats | undefined;
  /** Audio with a lower id was interrupted. */
  let since = Number.NEGATIVE_INFINITY;
  /** Whether the service has reported the interruption, and whether audio still belongs to what the application interrupted. */
  let isReported = false;
  let isStale = false;
  /** Counts the responses: a response's texts and its audio have different ids. */
  let response = 1;
  /** Whether the next text of the agent begins another response: until then it may go on after a "mhm". */
  let isNext = false;
  /** The last responses by the id of their text, for corrections. */
  const responses = new Map<unknown, string>();

  const decoders: Decoders = {
    conversation_initiation_metadata: (message) => {
      const metadata = partOf(message, "conversation_initiation_metadata_event");
      formats = {
        input: formatOf(textOf(metadata, "user_input_audio_format")),
        output: formatOf(textOf(metadata, "agent_output_audio_format")),
      };
      return [{ type: "ready" }];
    },
    audio: (message) => {
      const event = partOf(message, "audio_event");
      const age = since - Number(event.event_id);
      if (isStale || (age > 0 && age <= recent)) return [];
      const audio = decoded(textOf(event, "audio_base_64"));
      return [{ type: "audio", audio, item: String(response) }];
    },
    interruption: (message) => {
      since = Number(partOf(message, "interruption_event").event_id);
      response++;
      isReported = true;
      return [{ type: "interrupted" }];
    },
    ping: (message) => {
      const { event_id } = partOf(message, "ping_event");
      return [{ type: "send", messages: [toMessage({ type: "pong", event_id })] }];
    },
    user_transcript: (message) => {
      const text = textOf(partOf(message, "user_transcription_event"), "user_transcript");
      isNext = true;
      isStale = false;
      return [{ type: "transcript", who: "callee", text, final: true }];
    },
    agent_response: (message) => {
      const event = partOf(message, "agent_response_event");
      if (isNext) response++;
      isNext = isStale = false;
      const item = String(response);
      responses.delete(event.event_id);
      responses.set(event.event_id, item);
      keepNewest(responses, recent);
      const text = textOf(event, "agent_response");
      return [{ type: "transcript", who: "agent", text, final: true, item }];
    },
    agent_response_correction: (message) => {
      const event = partOf(message, "agent_response_correction_event");
      const text = textOf(event, "corrected_agent_response");
      const item = responses.get(event.event_id) ?? [...responses.values()].at(-1);
      const isCut = { interrupted: true, replaces: true } as const;
      return [{ type: "transcript", who: "agent", text, final: true, item, ...isCut }];
    },
    client_tool_call: (message) => {
      const call = partOf(message, "client_tool_call");
      const id = textOf(call, "tool_call_id");
      return [{ type: "tool", id, name: textOf(call, "tool_name"), arguments: call.parameters }];
    },
    error: (message) => {
      const event = partOf(message, "error_event");
      // A quota that is used up comes flat, with the close code in the words.
      const text = (textOf(event, "message") || textOf(message, "message")).slice(0, maxError);
      const code = String(event.error_type ?? event.code ?? /\d{4}/.exec(text)?.[0] ?? "");
      const error = { type: "error", code } as const;
      const end = (reason: "session_limit" | "agent_refused" | "agent_lost") =>
        ({ type: "end", reason }) as const;
      if (code === "max_duration_exceeded") return [error, end("session_limit")];
      return [
        { type: "response_done", outcome: "failed" },
        error,
        ...(isRefusal(text) ? [end("agent_refused")] : []),
        ...(formats ? [] : [end("agent_lost")]), // It ends a session that has not begun.
      ];
    },
  };

  return {
    get formats() {
      return formats;
    },
    open: () => [], // It speaks as soon as it is begun.
    answered: () => {
      const agent = {
        ...(instructions !== undefined && { prompt: { prompt: instructions } }),
        ...(greeting !== undefined && { first_message: greeting }),
      };
      return [
        toMessage({
          type: "conversation_initiation_client_data",
          conversation_config_override: { agent, ...(voice && { tts: { voice_id: voice } }) },
          dynamic_variables: variables,
        }),
      ];
    },
    encode: (audio) => [toMessage({ user_audio_chunk: base64(audio) })],
    decode: (message) => decodeBy(decoders, parseMessage(message)),
    interrupted: () => {
      // It yields by itself to the callee, and to the application not at all.
      isStale = !isReported;
      isReported = false;
      return [];
    },
    toolResult: ({ id, output, isError }) => {
      isStale = false; // What follows is a response to it; its text may come after its audio.
      return [
        toMessage({
          type: "client_tool_result",
          tool_call_id: id,
          result: output,
          is_error: isError,
        }),
      ];
    },
    reply: (instructions) => {
      isStale = false;
      return [toMessage({ type: "user_message", text: asUser(instructions) })];
    },
    addContext: (text) => [toMessage({ type: "contextual_update", text })],
  };
};

/**
 * An agent of ElevenLabs. Configure its audio, in both directions, as the stream's: `ulaw_8000` or `pcm_8000` for
 * 8 kHz, `pcm_16000` for 16 kHz; anything else is converted.
 *
 * @param options - the key, and the agent's id
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent that is configured at the service
 * ```ts
 * import { elevenlabs } from "outdial/agents";
 *
 * const agent = elevenlabs({ apiKey: "xi-key", agentId: "agent_1", variables: { name: "Ann" } });
 * console.log(agent.name); // elevenlabs
 * ```
 * @see docs/agents.md
 */
export const elevenlabs = (options: ElevenLabsOptions): Agent => {
  checkAgentOptions(options, {
    url: [
      (value) => !!routeOf(value, "ws") || !!routeOf(value),
      "must be an https or wss URL; http and ws on loopback only",
    ],
    agentId: [(value) => isText(value) && value !== "", "must be the id of an agent"],
    instructions: textRule,
    greeting: textRule,
    voice: textRule,
    variables: objectRule,
  });
  const { url = "https://api.elevenlabs.io", agentId, tools } = options;
  if (agentId === undefined) fail("agentId", "is missing");
  const signer = `${url.replace(/\/+$/, "")}/v1/convai/conversation/get-signed-url`;
  return {
    name: "elevenlabs",
    tools,
    address: async () => ({
      url,
      protocols: ["convai"],
      ...(!routeOf(url, "ws") && {
        ticket: {
          url: `${signer}?agent_id=${encodeURIComponent(agentId)}`,
          headers: { "xi-api-key": await keyOf(options) },
          read: (body: unknown) => isRecord(body) && body.signed_url,
        },
      }),
    }),
    can: abilitiesOf(createCodec(options)),
    codec: () => createCodec(options),
  };
};
