import type { Agent, LineFormat } from "../agent.ts";
import { toolDefinitions } from "../tools.ts";
import {
  createRealtimeCodec,
  type OpenAIRealtimeOptions,
  type RealtimeDialect,
  realtimeRules,
  wireFormat,
  withModel,
} from "./openai-realtime.ts";
import { abilitiesOf, checkAgentOptions, keyOf } from "./shared.ts";

/** The options of `xai`. */
export interface XaiOptions
  extends Omit<OpenAIRealtimeOptions, "voice" | "model" | "transcription"> {
  /**
   * The voice, such as `"ara"`.
   *
   * @defaultValue the service's own
   */
  readonly voice?: string | undefined;
  /**
   * The model.
   *
   * @defaultValue `"grok-voice-latest"`
   */
  readonly model?: string | undefined;
}

/** What OpenAI has codes for, this service has only words for. */
const codes: readonly (readonly [RegExp, string])[] = [
  [/no active response|truncat/i, "response_cancel_not_active"],
  [/already has an active response/i, "conversation_already_has_active_response"],
];

const dialect: RealtimeDialect = {
  sessionOf: ({ instructions, voice, tools }, audioFormat, turn_detection) => {
    const format = wireFormat(audioFormat);
    return {
      instructions,
      voice,
      turn_detection,
      tools: toolDefinitions(tools).map((tool) => ({ type: "function", ...tool })),
      audio: { input: { format }, output: { format } },
    };
  },
  session: {},
  turnDetection: {},
  wideband: 16_000,
  codeOf: (words) => codes.find(([pattern]) => pattern.test(words))?.[1],
  spoken: (text) => ({
    type: "force_message",
    role: "assistant",
    content: [{ type: "output_text", text }],
  }),
};

/**
 * An agent of xAI's Grok voice API, which has OpenAI's Realtime protocol with differences. It says texts word for word. A
 * stream at 8 kHz is sent as μ-law, one at 16 kHz as it is. It needs a runtime whose WebSocket sends headers: Node, Deno,
 * Bun or Workers.
 *
 * @param options - the key, and what the agent is to do
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent of xAI
 * ```ts
 * import { xai } from "outdial/agents";
 *
 * const agent = xai({ apiKey: "xai-key", instructions: "Say at once that you are a machine." });
 * console.log(agent.name); // xai
 * ```
 * @see docs/agents.md
 */
export const xai = (options: XaiOptions): Agent => {
  const { transcription: _, ...rules } = realtimeRules;
  checkAgentOptions(options, rules);
  const { url = "wss://api.x.ai/v1/realtime", model = "grok-voice-latest", tools } = options;
  const codec = (line: LineFormat) => createRealtimeCodec(options, line, dialect);
  return {
    name: "xai",
    tools,
    address: async () => ({
      url: withModel(url, model),
      headers: { Authorization: `Bearer ${await keyOf(options)}` },
    }),
    can: abilitiesOf(codec({ sampleRate: 8000 })),
    codec,
  };
};
