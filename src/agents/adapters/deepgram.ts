import { objectRule, textRule } from "../../lib/rules.ts";
import type { Agent, AgentEvent, AgentMessage, Codec, LineFormat, Tools } from "../agent.ts";
import { toolDefinitions } from "../tools.ts";
import {
  type AgentOptions,
  abilitiesOf,
  asUser,
  checkAgentOptions,
  type Decoders,
  decodeBy,
  type Fields,
  keyOf,
  objectsIn,
  parseMessage,
  textOf,
  toMessage,
} from "./shared.ts";

/** The options of `deepgram`. */
export interface DeepgramOptions extends AgentOptions {
  /** What the agent is to do, and that it is a machine. */
  readonly instructions?: string | undefined;
  /**
   * The voice.
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
  /** The tools that it may call; `hang_up` is built in. */
  readonly tools?: Tools | undefined;
  /** Further `agent` settings of the service, such as `listen`: they take precedence over the options above. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/** Messages after which audio belongs to a new response: texts of either side, since the user's ends their turn. */
const beginnings: ReadonlySet<string> = new Set([
  "ConversationText",
  "AgentThinking",
  "AgentStartedSpeaking",
  "AgentAudioDone",
]);

/** How often a greeting is refused before it is given up. */
const maxRefusals = 10;

const createCodec = (options: DeepgramOptions, { sampleRate }: LineFormat): Codec => {
  const { voice = "aura-2-thalia-en", model = "gpt-4o-mini", greeting, settings: more } = options;
  const format = { encoding: "pcm", sampleRate } as const;
  let isReady = false;
  let isAnswered = false;
  /** Whether the greeting was what was to be said last. */
  let isGreeting = false;
  /** Whether the greeting was refused and is to be said again, and how often it was. */
  let isRefused = false;
  let refusals = 0;
  /** Whether audio still belongs to what was interrupted. */
  let isStale = false;
  /** Counts the responses: the service has no name for them. */
  let response = 1;
  /** What was added to the instructions. */
  const added: string[] = [];

  const think = (prompt: string | undefined): Fields => ({
    provider: { type: "open_ai", model },
    prompt,
    functions: toolDefinitions(options.tools),
  });
  const settings = (): AgentMessage =>
    toMessage({
      type: "Settings",
      audio: {
        input: { encoding: "linear16", sample_rate: sampleRate },
        output: { encoding: "linear16", sample_rate: sampleRate, container: "none" },
      },
      agent: {
        listen: { provider: { type: "deepgram", version: "v1", model: "nova-3" } },
        think: think(options.instructions),
        speak: { provider: { type: "deepgram", model: voice } },
        ...more,
      },
    });

  /** It waits for its turn, since it would be refused while the callee speaks. */
  const say = (message: string): readonly AgentMessage[] => {
    isGreeting = false;
    return [toMessage({ type: "InjectAgentMessage", message, behavior: "queue" })];
  };

  /** Not among the settings: the telephone may ring for a while after those. */
  const greet = (): readonly AgentMessage[] => {
    const messages = greeting ? say(greeting) : [];
    isGreeting = true;
    isRefused = false;
    return messages;
  };

  /** It came while the callee or the agent spoke. */
  const onRefused = (code: string): readonly AgentEvent[] => {
    if (!isGreeting) return [{ type: "refused" }];
    isRefused = ++refusals < maxRefusals;
    return [{ type: "error", code }];
  };

  /** Drops the rest of what the agent says. */
  const drop = (): void => {
    if (!isStale) response++;
    isStale = true;
  };

  const decoders: Decoders = {
    Welcome: () => [{ type: "send", messages: [settings()] }],
    SettingsApplied: () => {
      isReady = true;
      // First the greeting: once the agent is ready it gets what the callee has said so far.
      const messages = isAnswered ? greet() : [];
      return [
        ...(messages.length ? [{ type: "send", messages } as const] : []),
        { type: "ready", begins: greeting ? "agent" : "callee" },
      ];
    },
    InjectionRefused: () => onRefused("INJECTION_REFUSED"),
    UserStartedSpeaking: () => {
      drop();
      return [{ type: "interrupted" }];
    },
    AgentAudioDone: () => [{ type: "response_done" }],
    ConversationText: (message) => {
      const text = { type: "transcript", text: textOf(message, "content"), final: true } as const;
      return message.role === "user"
        ? [{ type: "speech_stopped" }, { ...text, who: "callee" }]
        : [{ ...text, who: "agent", item: String(response) }];
    },
    FunctionCallRequest: ({ functions }) =>
      objectsIn(functions)
        .filter(({ client_side }) => client_side !== false)
        .map((call) => ({
          type: "tool",
          id: textOf(call, "id"),
          name: textOf(call, "name"),
          arguments: call.arguments,
        })),
    FunctionCallCancelled: ({ functions }) =>
      objectsIn(functions).map((call) => ({ type: "tool_cancelled", id: textOf(call, "id") })),
    Error: (message) => [
      { type: "response_done", outcome: "failed" },
      { type: "error", code: textOf(message, "code") },
      // Each of them ends a session that has not begun.
      ...(isReady ? [] : [{ type: "end", reason: "agent_lost" } as const]),
    ],
    Warning: (message) => {
      const code = textOf(message, "code");
      return code.startsWith("INJECT") ? onRefused(code) : [{ type: "error", code }];
    },
  };

  return {
    formats: { input: format, output: format },
    readyBeforeAnswered: true,
    keepAlive: { after: 8000, message: toMessage({ type: "KeepAlive" }) },
    open: () => [], // Before `Welcome` the service takes nothing.
    answered: () => {
      isAnswered = true;
      return isReady ? greet() : [];
    },
    encode: (audio) => [audio],
    decode: (message) => {
      if (typeof message !== "string") {
        return isStale ? [] : [{ type: "audio", audio: message, item: String(response) }];
      }
      const fields = parseMessage(message);
      if (beginnings.has(textOf(fields, "type"))) isStale = false;
      return decodeBy(decoders, fields);
    },
    interrupted: () => {
      drop(); // The service has found it out by itself, unless the application interrupts.
      return [];
    },
    toolResult: ({ id, name, output }) => [
      toMessage({ type: "FunctionCallResponse", id, name, content: output }),
    ],
    due: () => (isRefused ? greet() : []),
    say,
    reply: (instructions) => {
      isGreeting = false;
      return [toMessage({ type: "InjectUserMessage", content: asUser(instructions) })];
    },
    addContext: (prompt) => {
      added.push(prompt);
      return [toMessage({ type: "UpdatePrompt", prompt })]; // It adds to the prompt.
    },
    setInstructions: (text) => {
      const prompt = [text, ...added].join("\n\n");
      const [first, ...fallbacks] = objectsIn(more?.think ?? think(prompt)).map((each) => ({
        ...each,
        prompt,
      }));
      const all = fallbacks.length > 0 ? [first, ...fallbacks] : first;
      return [toMessage({ type: "UpdateThink", think: all })];
    },
  };
};

/**
 * A voice agent of Deepgram. Its audio has the stream's format: nothing is converted.
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
  checkAgentOptions(options, {
    instructions: textRule,
    voice: textRule,
    model: textRule,
    greeting: textRule,
    settings: objectRule,
  });
  const { url = "wss://agent.deepgram.com/v1/agent/converse", tools } = options;
  return {
    name: "deepgram",
    tools,
    address: async () => {
      const key = await keyOf(options);
      return { url, headers: { Authorization: `Token ${key}` }, protocols: ["token", key] };
    },
    can: abilitiesOf(createCodec(options, { sampleRate: 8000 })),
    codec: (line) => createCodec(options, line),
  };
};
