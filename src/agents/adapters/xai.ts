import type { Agent, AgentMessage, Codec, LineFormat } from "../agent.ts";
import { toolDefinitions } from "../tools.ts";
import {
  createRealtimeCodec,
  itemMessage,
  type OpenAIRealtimeOptions,
  plainRequest,
  type RealtimeDialect,
  realtimeRules,
  wireFormat,
  withModel,
} from "./openai-realtime.ts";
import { createRequests, type ResponseRequests } from "./response-requests.ts";
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
};

/** The type of an item that is said word for word. */
const spokenItem = "force_message";

/** A text that is said word for word, and its id. */
interface Text {
  readonly id: string;
  readonly message: AgentMessage;
}

/**
 * Responses, and texts that the service says by itself once it has them. One is sent again if its own response has
 * failed; while it may still be said, nothing is asked for.
 */
const createTextRequests = () => {
  const requests = createRequests(plainRequest);
  /** The text that was sent and isn't acknowledged: a response that begins meanwhile doesn't say it. */
  let sent: Text | undefined;
  /** The text that is acknowledged: the next response says it. */
  let next: Text | undefined;
  /** The text of the last response. */
  let last: Text | undefined;
  const say = (text: Text): readonly AgentMessage[] => {
    sent = text;
    return [text.message];
  };
  const textRequests: ResponseRequests = {
    ...requests,
    acknowledged: (type) => {
      requests.acknowledged(type);
      if (type !== spokenItem) return;
      next = sent;
      sent = undefined;
    },
    started: (response) => {
      requests.started(response);
      last = next;
      next = undefined;
      return last?.id;
    },
    done: (response, hasFailed) => {
      requests.done(response, hasFailed);
      // A service that doesn't report what it has may have said the text in it.
      if (!hasFailed) last = sent = undefined;
    },
    retry: () => {
      if (sent || next || requests.active() !== undefined) return [];
      return last ? say(last) : requests.retry();
    },
  };
  return { ...textRequests, say };
};

const createCodec = (options: XaiOptions, line: LineFormat): Codec => {
  const requests = createTextRequests();
  return {
    ...createRealtimeCodec(options, line, dialect, requests),
    say: (text, id) => {
      const content = [{ type: "output_text", text }];
      const message = itemMessage({ type: spokenItem, role: "assistant", content });
      return requests.say({ id, message });
    },
  };
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
  const codec = (line: LineFormat) => createCodec(options, line);
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
