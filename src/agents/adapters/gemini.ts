import { base64, decoded } from "../../lib/encoding.ts";
import { createIsNew } from "../../lib/newest.ts";
import { textRule } from "../../lib/rules.ts";
import type { Agent, AgentAbilities, AgentEvent, AgentMessage, Codec, Tools } from "../agent.ts";
import { keyOfCall, toolDefinitions } from "../tools.ts";
import {
  type AgentOptions,
  checkAgentOptions,
  type Fields,
  keyOf,
  objectsIn,
  parseMessage,
  partOf,
  textOf,
  textOrFalse,
  toMessage,
} from "./shared.ts";

/** The options of `gemini`. */
export interface GeminiOptions extends AgentOptions {
  /** What the agent is to do, and that it is a machine. */
  readonly instructions?: string | undefined;
  /**
   * The voice, such as `"Kore"`.
   *
   * @defaultValue the model's own
   */
  readonly voice?: string | undefined;
  /**
   * The model.
   *
   * @defaultValue `"gemini-3.8-live"`
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
}

const defaultModel = "gemini-3.8-live";

const endpoint =
  "wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

const input = { encoding: "pcm", sampleRate: 16_000 } as const;
const output = { encoding: "pcm", sampleRate: 24_000 } as const;

/** Reasons with which a turn ends in order. */
const orderly = /^(NEED_MORE_INPUT|.*_UNSPECIFIED|)$/;

/** A text as if the callee had typed it: whatever the model version, it responds to one. */
const textMessage = (text: string): AgentMessage => toMessage({ realtimeInput: { text } });

const setupOf = (options: GeminiOptions): AgentMessage => {
  const { model = defaultModel, instructions, voice, tools } = options;
  const speechConfig = voice && { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } };
  const functionDeclarations = toolDefinitions(tools).map(({ parameters, ...tool }) => ({
    ...tool,
    parametersJsonSchema: parameters,
  }));
  return toMessage({
    setup: {
      model: model.includes("/") ? model : `models/${model}`,
      generationConfig: { responseModalities: ["AUDIO"], ...(speechConfig && { speechConfig }) },
      ...(instructions && { systemInstruction: { parts: [{ text: instructions }] } }),
      tools: [{ functionDeclarations }],
      inputAudioTranscription: {},
      outputAudioTranscription: {},
      // Without it a session with audio lasts 15 minutes.
      contextWindowCompression: { slidingWindow: {} },
    },
  });
};

/** The text of one side, which comes in pieces of any length. */
const createText = (who: "agent" | "callee") => {
  let text = "";
  let isChanged = false;
  return {
    add: (piece: string, names: object): readonly AgentEvent[] => {
      if (!piece) return [];
      text += piece;
      isChanged = true;
      return [{ type: "transcript", who, text: piece, final: false, ...names }];
    },
    /** The whole text, unless nothing has come since it was whole. */
    whole: (names: object = {}): readonly AgentEvent[] => {
      if (!isChanged) return [];
      isChanged = false;
      return [{ type: "transcript", who, text: text.trim(), final: true, ...names }];
    },
    clear: () => {
      text = "";
      isChanged = false;
    },
  };
};

/** What a model can: earlier ones take less. */
const abilitiesOf = ({ model = defaultModel }: GeminiOptions): AgentAbilities => ({
  say: false,
  reply: true,
  addContext: !model.includes("gemini-3.1"),
  setInstructions: !/gemini-(2\.|3\.1|live-2)/.test(model),
  cancel: false,
});

const createCodec = (options: GeminiOptions, can: AgentAbilities): Codec => {
  const { greeting } = options;
  let isReady = false;
  let isAnswered = false;
  /** Counts the turns of the model: the service has no name for them. */
  let turn = 1;
  /** Whether anything of this turn has come, whether all of it has, and whether the callee has interrupted it. */
  let hasBegun = false;
  let isDone = false;
  let isCut = false;
  /** Whether a text was sent within this turn: then it interrupts it, and no callee. */
  let isAsked = false;
  const callee = createText("callee");
  const agent = createText("agent");
  /** The turns are counted here: a call that is repeated may come in another one. */
  const isNewCall = createIsNew();
  /** What interrupts a turn, if it is sent within one. */
  const afterTurn: AgentMessage[] = [];

  const names = () => ({ item: String(turn), response: String(turn) });

  const greet = (): readonly AgentMessage[] => {
    if (greeting === false) return [];
    const words = greeting && ` Begin with: ${greeting}`;
    return [textMessage(`(The call was answered.${words || " Begin."})`)];
  };

  /** Another turn begins with what comes next. */
  const next = (): AgentEvent[] => {
    const texts: AgentEvent[] = [...agent.whole(names())];
    agent.clear();
    turn++;
    hasBegun = isDone = isCut = isAsked = false;
    return texts;
  };

  /** Something of the model's turn has come: then the callee's is over. */
  const begin = (): readonly AgentEvent[] => {
    // The service's turn may go on after a call of a tool: what follows is another response.
    const texts = isDone ? next() : [];
    if (hasBegun) return texts;
    hasBegun = true;
    texts.push(...callee.whole());
    callee.clear();
    return [...texts, { type: "response_started", response: String(turn) }];
  };

  const audioIn = (content: Fields): readonly AgentEvent[] =>
    objectsIn(partOf(content, "modelTurn").parts).flatMap((part) => {
      const data = textOf(partOf(part, "inlineData"), "data");
      if (!data) return [];
      return [...begin(), { type: "audio", audio: decoded(data), ...names() } as const];
    });

  /** All of a turn has come: once, though the service reports the end of its generation and of its playback. */
  const end = (code = ""): readonly AgentEvent[] => {
    if (isDone || (isCut && !hasBegun)) return [];
    const hasFailed = !orderly.test(code);
    // An empty turn is none that the callee waits for, unless the model waits for more of theirs.
    const started = code === "NEED_MORE_INPUT" ? [] : begin();
    isDone = true;
    const outcome = isCut ? "cancelled" : hasFailed ? "failed" : undefined;
    return [
      ...started,
      { type: "response_done", response: String(turn), ...(outcome && { outcome }) },
      ...(hasFailed ? [{ type: "error", code } as const] : []),
    ];
  };

  const onContent = (content: Fields): readonly AgentEvent[] => {
    const events: AgentEvent[] = [];
    events.push(...callee.add(textOf(partOf(content, "inputTranscription"), "text"), {}));
    events.push(...audioIn(content));
    events.push(...agent.add(textOf(partOf(content, "outputTranscription"), "text"), names()));
    if (content.interrupted === true && !isCut) {
      isCut = true;
      events.push(...agent.whole(names()));
      if (!isAsked) events.push({ type: "interrupted" });
    }
    const { waitingForInput } = content;
    const reason =
      waitingForInput === true ? "NEED_MORE_INPUT" : textOf(content, "turnCompleteReason");
    if (content.generationComplete === true && hasBegun) events.push(...end(reason));
    if (content.turnComplete === true) {
      events.push(...callee.whole(), ...agent.whole(names()), ...end(reason), ...next());
      callee.clear();
      const messages = afterTurn.splice(0);
      if (messages.length) events.push({ type: "send", messages });
    }
    return events;
  };

  return {
    formats: { input, output },
    open: () => [setupOf(options)],
    readyBeforeAnswered: true,
    answered: () => {
      isAnswered = true;
      return isReady ? greet() : [];
    },
    encode: (audio) => [
      toMessage({
        realtimeInput: { audio: { data: base64(audio), mimeType: "audio/pcm;rate=16000" } },
      }),
    ],
    decode: (message) => {
      const fields = parseMessage(
        typeof message === "string" ? message : new TextDecoder().decode(message),
      );
      const events: AgentEvent[] = [];
      if (fields.setupComplete) {
        isReady = true;
        events.push({ type: "ready", ...(greeting === false && { begins: "callee" }) });
        // Before it is ready it takes nothing but its settings.
        if (isAnswered) events.push({ type: "send", messages: greet() });
      }
      const calls = objectsIn(partOf(fields, "toolCall").functionCalls)
        .map(({ id, name, args }) => ({
          ...{ id: String(id ?? ""), name: String(name ?? ""), arguments: args ?? {} },
        }))
        .filter((call) => isNewCall(keyOfCall(call)));
      for (const call of calls) {
        events.push(...begin(), { type: "tool", ...call, response: String(turn) });
      }
      // All of the response has come, though some models leave the turn open until they have the results.
      if (calls.length) events.push(...end());
      const { ids } = partOf(fields, "toolCallCancellation");
      for (const id of Array.isArray(ids) ? ids : []) {
        events.push({ type: "tool_cancelled", id: String(id) });
      }
      events.push(...onContent(partOf(fields, "serverContent")));
      const { totalTokenCount: tokens } = partOf(fields, "usageMetadata");
      if (typeof tokens === "number") events.push({ type: "usage", tokens });
      if (fields.goAway) events.push({ type: "end", reason: "session_limit" });
      return events;
    },
    interrupted: () => [], // The service has found it out by itself.
    toolResult: ({ id, name, output: text, isError, reply }) => {
      const response = { [isError ? "error" : "output"]: text };
      const functionResponses = [{ id, name, response, ...(!reply && { scheduling: "SILENT" }) }];
      return [toMessage({ toolResponse: { functionResponses } })];
    },
    reply: (instructions) => {
      isAsked = hasBegun;
      return [textMessage(instructions ? `(${instructions})` : "(Go on.)")];
    },
    addContext: can.addContext
      ? (text) => {
          const turns = [{ role: "user", parts: [{ text }] }];
          const message = toMessage({ clientContent: { turns, turnComplete: false } });
          if (!hasBegun) return [message];
          afterTurn.push(message);
          return [];
        }
      : undefined,
    setInstructions: can.setInstructions
      ? (text) => [toMessage({ contextUpdate: { systemInstruction: { parts: [{ text }] } } })]
      : undefined,
  };
};

/**
 * An agent of Google's Gemini Live API. The callee's audio is converted to 16 kHz, the model's from 24 kHz. It needs a
 * runtime whose WebSocket sends headers: Node, Deno, Bun or Workers.
 *
 * @param options - the key, and what the agent is to do
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent of Gemini
 * ```ts
 * import { gemini } from "outdial/agents";
 *
 * const agent = gemini({ apiKey: "key", instructions: "Say at once that you are a machine." });
 * console.log(agent.name); // gemini
 * ```
 * @see docs/agents.md
 */
export const gemini = (options: GeminiOptions): Agent => {
  checkAgentOptions(options, {
    instructions: textRule,
    voice: textRule,
    model: textRule,
    greeting: textOrFalse,
  });
  const { url = endpoint, tools } = options;
  const can = abilitiesOf(options);
  return {
    name: "gemini",
    tools,
    can,
    address: async () => ({ url, headers: { "x-goog-api-key": await keyOf(options) } }),
    codec: () => createCodec(options, can),
  };
};
