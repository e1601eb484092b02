import { base64, decoded } from "../../lib/encoding.ts";
import { objectRule, type Rule, textRule } from "../../lib/rules.ts";
import type { Agent, AgentEvent, AgentMessage, Codec, Cut, LineFormat, Tools } from "../agent.ts";
import type { AudioFormat } from "../audio/resample.ts";
import { toolDefinitions } from "../tools.ts";
import { createRequests, type ResponseRequests } from "./response-requests.ts";
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
  textOrFalse,
  toMessage,
  toolCallIn,
} from "./shared.ts";

/** The options of `openaiRealtime`. */
export interface OpenAIRealtimeOptions extends AgentOptions {
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
   * @defaultValue `"gpt-realtime"`
   */
  readonly model?: string | undefined;
  /**
   * What it says first, in about these words; `false` lets the callee begin.
   *
   * @defaultValue what the model makes of the instructions
   */
  readonly greeting?: string | false | undefined;
  /** The tools that it may call; `hang_up` is built in. */
  readonly tools?: Tools | undefined;
  /**
   * How the service finds out who speaks. It is always sent, since its defaults differ from document to document.
   *
   * @defaultValue `{ type: "server_vad" }`, which responds by itself and interrupts itself
   */
  readonly turnDetection?: OpenAITurnDetection | undefined;
  /**
   * The model that transcribes the callee; `false` for none.
   *
   * @defaultValue `"gpt-4o-mini-transcribe"`
   */
  readonly transcription?: string | false | undefined;
}

/** How OpenAI finds out who speaks, by its own names. */
export type OpenAITurnDetection = (
  | {
      readonly type: "server_vad";
      readonly threshold?: number;
      readonly prefix_padding_ms?: number;
      readonly silence_duration_ms?: number;
    }
  | { readonly type: "semantic_vad"; readonly eagerness?: "low" | "medium" | "high" | "auto" }
) & { readonly create_response?: boolean; readonly interrupt_response?: boolean };

/** Errors that only mean that the service was faster. */
const harmless = /^(response_cancel_not_active|conversation_already_has_active_response)$/;

/** Errors of the service that another response may not have. */
const transient = /^(server_error|rate_limit_exceeded)$/;

/** The outcome of a response by its status; any other was completed. */
const outcomes: ReadonlyMap<string, "failed" | "cancelled"> = new Map([
  ["failed", "failed"],
  ["incomplete", "failed"],
  ["cancelled", "cancelled"],
]);

export const wireFormat = ({ encoding, sampleRate }: AudioFormat): object =>
  encoding === "ulaw" ? { type: "audio/pcmu" } : { type: "audio/pcm", rate: sampleRate };

/** An item, and the index of its part unless it is the first, as one name. */
const itemOf = (message: Fields): string => {
  const index = Number(message.content_index) || 0;
  return textOf(message, "item_id") + (index ? `#${index}` : "");
};

/** The item and the index of its part, by that name. */
const wireItem = (item: string): { readonly item_id: string; readonly content_index: number } => {
  const [, item_id = item, index] = /^(.*)#(\d+)$/.exec(item) ?? [];
  return { item_id, content_index: Number(index ?? 0) };
};

/** The code of an error in a message, or its type. */
const errorCodeOf = (message: Fields): string => {
  const error = partOf(message, "error");
  return textOf(error, "code") || textOf(error, "type");
};

/** A text of the agent, in one of the message's fields. */
const agentText =
  (field: "delta" | "transcript") =>
  (message: Fields): readonly AgentEvent[] => [
    {
      type: "transcript",
      who: "agent",
      text: textOf(message, field),
      final: field === "transcript",
      item: itemOf(message),
      response: textOf(message, "response_id") || undefined,
    },
  ];

/** Where a service that has this protocol differs from OpenAI's own. */
export interface RealtimeDialect {
  /** The settings of a session. */
  readonly sessionOf: (
    options: RealtimeOptions,
    audioFormat: AudioFormat,
    turnDetection: OpenAITurnDetection,
  ) => object;
  /** The fields of each update of a session. */
  readonly session: object;
  /** How it finds out who speaks, beside what is asked of it. */
  readonly turnDetection: { readonly create_response?: true; readonly interrupt_response?: true };
  /** Samples per second of a stream at 16 kHz. */
  readonly wideband: number;
  /** The code of an error that has none of OpenAI's. */
  readonly codeOf?: ((words: string) => string | undefined) | undefined;
}

/** The options of a session, whatever the service. */
export type RealtimeOptions = Omit<OpenAIRealtimeOptions, "apiKey" | "url">;

/** The settings of a session. */
const sessionOf: RealtimeDialect["sessionOf"] = (options, audioFormat, turnDetection) => {
  const { instructions, voice = "marin", tools } = options;
  const model = options.transcription ?? "gpt-4o-mini-transcribe";
  const format = wireFormat(audioFormat);
  return {
    type: "realtime",
    instructions,
    output_modalities: ["audio"],
    tools: toolDefinitions(tools).map((tool) => ({ type: "function", ...tool })),
    audio: {
      input: {
        format,
        ...(model && { transcription: { model } }),
        turn_detection: turnDetection,
      },
      output: { format, voice },
    },
  };
};

/** The request for the greeting. */
const greetingOf = ({ instructions = "", greeting }: RealtimeOptions): AgentMessage => {
  const response = greeting && { instructions: `${instructions}\n\nBegin with: ${greeting}` };
  return toMessage({ type: "response.create", ...(response && { response }) });
};

/** What the service has counted for a response. */
const usageOf = (response: Fields): readonly AgentEvent[] => {
  const { total_tokens: tokens } = partOf(response, "usage");
  return typeof tokens === "number" ? [{ type: "usage", tokens }] : [];
};

/** What the service's messages mean. */
const decodersOf = (
  { greeting }: RealtimeOptions,
  requests: ResponseRequests,
  { codeOf }: RealtimeDialect,
): Decoders => {
  /** The item of the callee whose text came last: some services send better ones. */
  let transcribed = "";

  /** Some gateways leave the name out. */
  const responseOf = (message: Fields) => textOf(message, "response_id") || requests.active();

  const onItem = (message: Fields): readonly AgentEvent[] => {
    requests.acknowledged(partOf(message, "item").type);
    return [];
  };

  return {
    "session.updated": () => [{ type: "ready", ...(greeting === false && { begins: "callee" }) }],
    "conversation.item.added": onItem,
    "conversation.item.created": onItem,
    "response.created": (message) => {
      const fields = partOf(message, "response");
      const response = textOf(fields, "id");
      const request = requests.started(response) ?? textOf(partOf(fields, "metadata"), "request");
      return [{ type: "response_started", response, ...(request && { request }) }];
    },
    "response.output_audio.delta": (message) => {
      const audio = decoded(textOf(message, "delta"));
      return [{ type: "audio", audio, item: itemOf(message), response: responseOf(message) }];
    },
    "response.output_audio_transcript.delta": agentText("delta"),
    "response.output_audio_transcript.done": agentText("transcript"),
    "conversation.item.input_audio_transcription.completed": (message) => {
      if (message.status === "in_progress") return [];
      const item = itemOf(message);
      const replaces = item !== "" && item === transcribed;
      transcribed = item;
      const text = { text: textOf(message, "transcript"), final: true, item } as const;
      return [{ type: "transcript", who: "callee", ...text, ...(replaces && { replaces }) }];
    },
    "input_audio_buffer.speech_started": () => [{ type: "interrupted" }],
    "input_audio_buffer.speech_stopped": () => [{ type: "speech_stopped" }],
    "response.output_item.done": (message) =>
      toolCallIn(partOf(message, "item"), responseOf(message)),
    "response.done": (message) => {
      const fields = partOf(message, "response");
      const response = textOf(fields, "id") || requests.active();
      const outcome = outcomes.get(textOf(fields, "status"));
      const details = partOf(fields, "status_details");
      const code = errorCodeOf(details) || textOf(details, "reason");
      const hasFailed = outcome === "failed";
      requests.done(response, hasFailed);
      const failed = { type: "failed", transient: transient.test(code), response } as const;
      return [
        ...usageOf(fields),
        ...(hasFailed ? [failed] : []),
        { type: "response_done", response, ...(outcome && { outcome }) },
        ...(hasFailed ? [{ type: "error", code } as const] : []),
      ];
    },
    error: (message) => {
      const words = textOf(partOf(message, "error"), "message");
      const code = codeOf?.(words) ?? errorCodeOf(message);
      if (harmless.test(code)) {
        if (!code.startsWith("conversation")) return [];
        const id = textOf(partOf(message, "error"), "event_id");
        requests.refused(!id);
        return id ? [{ type: "refused", id }] : [];
      }
      const end = { type: "end", reason: "session_limit" } as const;
      return [{ type: "error", code }, ...(code === "session_expired" ? [end] : [])];
    },
  };
};

/** The message that adds an item to the conversation. */
export const itemMessage = (item: object): AgentMessage =>
  toMessage({ type: "conversation.item.create", item });

/** Asks for a response to what was said and to results. */
export const plainRequest: AgentMessage = toMessage({ type: "response.create" });

/** A conversation with OpenAI's Realtime protocol, or a dialect of it. */
export const createRealtimeCodec = (
  options: RealtimeOptions,
  { sampleRate }: LineFormat,
  dialect: RealtimeDialect,
  requests: ResponseRequests = createRequests(plainRequest),
): Codec => {
  const turnDetection: OpenAITurnDetection = {
    ...dialect.turnDetection,
    ...(options.turnDetection ?? { type: "server_vad" }),
  };
  const format: AudioFormat =
    sampleRate === 8000
      ? { encoding: "ulaw", sampleRate: 8000 }
      : { encoding: "pcm", sampleRate: dialect.wideband };
  let { instructions } = options;
  const decoders = decodersOf(options, requests, dialect);
  const update = (session: object): readonly AgentMessage[] => [
    toMessage({ type: "session.update", session }),
  ];
  const [probe] = update(dialect.session);
  /** @param mustCancel - whether the service goes on with its response otherwise */
  const stop = (cuts: readonly Cut[], mustCancel: boolean): readonly AgentMessage[] => {
    const active = requests.active();
    const cancel = { type: "response.cancel", response_id: active || undefined };
    const truncations = cuts.map(({ item, played }) => ({
      type: "conversation.item.truncate",
      ...wireItem(item),
      audio_end_ms: played,
    }));
    return [...(mustCancel && active !== undefined ? [cancel] : []), ...truncations].map(toMessage);
  };

  return {
    formats: { input: format, output: format },
    probe,
    readyBeforeAnswered: true,
    open: () => update(dialect.sessionOf(options, format, turnDetection)),
    answered: () => (options.greeting === false ? [] : requests.ask(greetingOf(options))),
    encode: (audio) => [toMessage({ type: "input_audio_buffer.append", audio: base64(audio) })],
    decode: (message) => {
      const fields = parseMessage(message);
      // Compatible services also use the names of before the API's general availability.
      const type = textOf(fields, "type").replace("response.audio", "response.output_audio");
      return decodeBy(decoders, fields, type);
    },
    interrupted: (cuts) => stop(cuts, !turnDetection.interrupt_response),
    toolResult: ({ id, output, reply }) => {
      requests.sent(reply);
      return [itemMessage({ type: "function_call_output", call_id: id, output })];
    },
    due: requests.take,
    // Those of a response take the place of the session's.
    reply: (more, id) => {
      const both = more && [instructions, more].filter(Boolean).join("\n\n");
      const response = { ...(both && { instructions: both }), metadata: { request: id } };
      return requests.ask(toMessage({ type: "response.create", event_id: id, response }));
    },
    addContext: (text) => [
      itemMessage({ type: "message", role: "system", content: [{ type: "input_text", text }] }),
    ],
    setInstructions: (text) => {
      instructions = text;
      return update({ ...dialect.session, instructions });
    },
    cancel: (cuts) => stop(cuts, true),
    retry: requests.retry,
  };
};

/** OpenAI's own: its defaults differ from document to document, so they are sent. */
export const openaiDialect: RealtimeDialect = {
  sessionOf,
  session: { type: "realtime" },
  turnDetection: { create_response: true, interrupt_response: true },
  wideband: 24_000,
};

/** The rules of the options of a session. */
export const realtimeRules: Readonly<
  Record<"instructions" | "voice" | "model" | "greeting" | "turnDetection" | "transcription", Rule>
> = {
  instructions: textRule,
  voice: textRule,
  model: textRule,
  greeting: textOrFalse,
  turnDetection: objectRule,
  transcription: textOrFalse,
};

/** The URL with the model in it, unless it has one. */
export const withModel = (url: string, model: string): string => {
  const address = new URL(url);
  if (!address.searchParams.has("model")) address.searchParams.set("model", model);
  return address.href;
};

/**
 * An agent with OpenAI's Realtime protocol. A stream at 8 kHz is sent as μ-law, one at 16 kHz is converted to the
 * 24 kHz that the model takes.
 *
 * @param options - the key, and what the agent is to do
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent with a tool
 * ```ts
 * import { openaiRealtime } from "outdial/agents";
 *
 * const agent = openaiRealtime({
 *   apiKey: () => "sk-from-a-secrets-manager",
 *   instructions: "Say at once that you are a machine. Ask whether the parcel has come.",
 *   tools: {
 *     note_answer: {
 *       description: "Notes whether the parcel has come.",
 *       parameters: { type: "object", properties: { came: { type: "boolean" } }, required: ["came"] },
 *       run: (args) => console.log(args),
 *     },
 *   },
 * });
 * console.log(agent.name); // openai
 * ```
 * @see docs/agents.md
 */
export const openaiRealtime = (options: OpenAIRealtimeOptions): Agent => {
  checkAgentOptions(options, realtimeRules);
  const { url = "wss://api.openai.com/v1/realtime", model = "gpt-realtime", tools } = options;
  const codec = (line: LineFormat) => createRealtimeCodec(options, line, openaiDialect);
  return {
    name: "openai",
    tools,
    address: async () => {
      const key = await keyOf(options);
      return {
        url: withModel(url, model),
        headers: { Authorization: `Bearer ${key}` },
        protocols: ["realtime", `openai-insecure-api-key.${key}`],
      };
    },
    can: abilitiesOf(codec({ sampleRate: 8000 })),
    codec,
  };
};
