import { base64, decoded } from "../../lib/encoding.ts";
import { createIsNew, keepNewest } from "../../lib/newest.ts";
import { textRule } from "../../lib/rules.ts";
import type { Agent, AgentEvent, AgentMessage, Codec, LineFormat, Tools } from "../agent.ts";
import { toolDefinitions } from "../tools.ts";
import {
  type AgentOptions,
  abilitiesOf,
  checkAgentOptions,
  type Decoders,
  decodeBy,
  type Fields,
  keyOf,
  parseMessage,
  partOf,
  textOf,
  toMessage,
  toolCallIn,
} from "./shared.ts";

/** The options of `gptLive`. */
export interface GptLiveOptions extends AgentOptions {
  /** What the agent is to do, and that it is a machine. */
  readonly instructions?: string | undefined;
  /**
   * The voice.
   *
   * @defaultValue `"marin"`
   */
  readonly voice?: string | undefined;
  /**
   * The model.
   *
   * @defaultValue `"gpt-live-1"`
   */
  readonly model?: string | undefined;
  /** What it says first, in about these words; left out, it begins as it likes. */
  readonly greeting?: string | undefined;
  /** The tools that it may call, by way of the backend model; `hang_up` is built in. */
  readonly tools?: Tools | undefined;
  /**
   * The backend model, which calls the tools.
   *
   * @defaultValue `"gpt-5-mini"`
   */
  readonly delegate?: string | undefined;
}

/** The tool calls of a response. */
class ToolCalls {
  readonly #isNew = createIsNew();
  readonly #unanswered = new Set<string>();
  #isReplyWanted = false;

  /** Adds a call; returns whether its id is new: services repeat themselves. */
  add(id: string): boolean {
    const isNew = this.#isNew(id);
    if (isNew) this.#unanswered.add(id);
    return isNew;
  }

  answer(id: string, reply: boolean): void {
    this.#unanswered.delete(id);
    this.#isReplyWanted ||= reply;
  }

  get isAnswered(): boolean {
    return this.#unanswered.size === 0;
  }

  /** Whether the model is to continue; true once. */
  takeDue(): boolean {
    const isDue = this.#isReplyWanted;
    this.#isReplyWanted = false;
    return isDue;
  }

  /** The response has failed: the service takes no answers to its calls. */
  drop(): void {
    this.#unanswered.clear();
  }
}

/** A response of the backend model, with its tool calls. */
interface Delegation {
  /** A name of its own: the service has one only for all that follow one another. */
  readonly response: string;
  readonly calls: ToolCalls;
  hasEnded: boolean;
}

/** How a session ended, by the service's reason; any other end was in order. */
const ends: ReadonlyMap<string, "session_limit" | "agent_lost" | "agent_refused"> = new Map([
  ["expired", "session_limit"],
  ["connection_lost", "agent_lost"],
  ["content", "agent_refused"],
]);

/** Delegations by a name of the service's. */
type Delegations = Map<string, Delegation>;

/** Adds a delegation to the newest ones. */
const remember = (all: Delegations, name: string, delegation: Delegation): Delegation => {
  keepNewest(all.set(name, delegation), 1000);
  return delegation;
};

/** A text of either side: a piece, since this protocol sends no whole ones. */
const textEvent = (who: "agent" | "callee", message: Fields): AgentEvent => ({
  type: "transcript",
  who,
  text: textOf(message, "delta"),
  final: false,
});

/** Adds a text to the session: to be spoken about, to be known, or to be followed. */
const append = (
  kind: "commentary" | "thinking" | "instructions",
  content: string,
): readonly AgentMessage[] => [
  toMessage({ type: `session.${kind}.append`, content, delegation_id: null }),
];

/** What the service counts; it begins at 0 with each response of the backend. */
const usageOf = (fields: Fields): readonly AgentEvent[] => {
  const { total_tokens: tokens, seconds } = partOf(fields, "usage");
  if (typeof tokens === "number") return [{ type: "usage", tokens }];
  return typeof seconds === "number" ? [{ type: "usage", seconds, total: true }] : [];
};

/** The error in a message, or in a response. */
const errorOf = (fields: Fields): readonly AgentEvent[] => [
  { type: "error", code: textOf(partOf(fields, "error"), "code") },
];

const createCodec = (options: GptLiveOptions, { sampleRate }: LineFormat): Codec => {
  const { model = "gpt-live-1", instructions, voice = "marin", tools, greeting } = options;
  const { delegate = "gpt-5-mini" } = options;
  const encoding = sampleRate === 8000 ? "ulaw" : "pcm";
  const format = { encoding, sampleRate } as const;
  /** The backend's active responses by their delegation: one at a time each. */
  const delegations: Delegations = new Map();
  /** The response that made a call, by the call's id. */
  const callers: Delegations = new Map();

  let responses = 0;

  const begin = (id: string): Delegation => {
    const before = delegations.get(id);
    if (before) before.hasEnded = true;
    const response = String(++responses);
    return remember(delegations, id, { response, calls: new ToolCalls(), hasEnded: false });
  };

  /** Continues the backend once, when no response runs and all calls are answered: before, the service refuses it. */
  const continuation = (): readonly AgentMessage[] => {
    const all = [...new Set([...delegations.values(), ...callers.values()])];
    if (!all.every(({ calls, hasEnded }) => hasEnded && calls.isAnswered)) return [];
    return all.filter(({ calls }) => calls.takeDue()).length > 0
      ? [toMessage({ type: "response.create" })]
      : [];
  };

  /** Decodes an event of the backend model. */
  const decodeBackend = (id: string, event: Fields): readonly AgentEvent[] => {
    const found = delegations.get(id);
    const delegation = found?.hasEnded ? undefined : found;
    const go = (): readonly AgentEvent[] => {
      const messages = continuation();
      return messages.length ? [{ type: "send", messages }] : [];
    };
    const end: Decoders[string] = () => {
      const ending = delegation ?? begin(id);
      ending.hasEnded = true;
      return [...usageOf(partOf(event, "response")), ...go()];
    };
    return decodeBy(
      {
        "response.created": () => {
          begin(id);
          return [];
        },
        "response.output_item.done": () => {
          const item = partOf(event, "item");
          const call = textOf(item, "call_id");
          if (found?.hasEnded && callers.get(call) === found) return []; // It repeats itself.
          const caller = delegation ?? begin(id);
          const tools = toolCallIn(item, caller.response);
          if (tools.length === 0 || !caller.calls.add(call)) return [];
          remember(callers, call, caller);
          return tools;
        },
        "response.completed": end,
        "response.incomplete": end,
        "response.failed": () => {
          if (found) {
            found.hasEnded = true;
            found.calls.drop();
          }
          return [...errorOf(partOf(event, "response")), ...go()];
        },
      },
      event,
    );
  };

  const decoders: Decoders = {
    "session.started": () => {
      if (!greeting) return [{ type: "ready", begins: "callee" }];
      const messages = append("commentary", `Begin the call with: ${greeting}`);
      return [{ type: "ready" }, { type: "send", messages }];
    },
    "session.output_audio.delta": (message) => [
      { type: "audio", audio: decoded(textOf(message, "delta")) },
    ],
    "session.output_transcript.delta": (message) => [textEvent("agent", message)],
    "session.input_transcript.delta": (message) => [
      { type: "speech" },
      textEvent("callee", message),
    ],
    "response.event": (message) =>
      decodeBackend(textOf(message, "delegation_id"), partOf(message, "event")),
    "session.usage.updated": usageOf,
    "session.closed": (message) => {
      const code = textOf(message, "reason");
      const reason = ends.get(code);
      if (!reason) return [...usageOf(message), { type: "end", reason: "agent_ended" }];
      return [...usageOf(message), { type: "error", code }, { type: "end", reason }];
    },
    error: errorOf,
  };

  return {
    continuous: true,
    formats: { input: format, output: format },
    open: () => [], // A session costs from its start, and speaks from then on.
    answered: () => {
      const session = {
        model,
        instructions,
        audio: {
          format: { type: encoding === "ulaw" ? "audio/pcmu" : "audio/pcm", rate: sampleRate },
          output: { voice },
        },
        delegation: {
          type: "responses",
          responses: {
            model: delegate,
            tools: toolDefinitions(tools).map((tool) => ({
              type: "function",
              strict: false,
              ...tool,
            })),
          },
        },
      };
      return [toMessage({ type: "session.start", session })];
    },
    encode: (audio) => [toMessage({ type: "session.input_audio.append", audio: base64(audio) })],
    decode: (message) => decodeBy(decoders, parseMessage(message)),
    interrupted: () => [], // It yields by itself, and has sent nothing that it doesn't say.
    toolResult: ({ id, output, reply }) => {
      const item = { type: "function_call_output", call_id: id, output };
      const caller = callers.get(id);
      caller?.calls.answer(id, reply);
      return [toMessage({ type: "response.item.create", item }), ...(caller ? continuation() : [])];
    },
    reply: (instructions = "Continue.") => append("commentary", instructions),
    addContext: (text) => append("thinking", text),
    setInstructions: (text) => append("instructions", text),
    close: () => [toMessage({ type: "session.close" })],
  };
};

/**
 * An agent with OpenAI's GPT-Live protocol: it listens while it speaks, and yields by itself. It needs a runtime whose
 * WebSocket sends headers: Node, Deno, Bun or Workers.
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
  checkAgentOptions(options, {
    instructions: textRule,
    voice: textRule,
    model: textRule,
    greeting: textRule,
    delegate: textRule,
  });
  const { url = "wss://api.openai.com/v1/live/sessions", tools } = options;
  return {
    name: "gpt-live",
    tools,
    address: async () => ({ url, headers: { Authorization: `Bearer ${await keyOf(options)}` } }),
    can: abilitiesOf(createCodec(options, { sampleRate: 8000 })),
    codec: (line) => createCodec(options, line),
  };
};
