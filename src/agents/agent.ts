import type { Context } from "../callbacks/signed-url.ts";
import type { MediaStart } from "../flows/media/messages.ts";
import type { AgentSession } from "./agent-session.ts";
import type { AudioFormat } from "./audio/resample.ts";
import type { Address, OpenSocket } from "./open-socket.ts";

/** A message on the agent's socket: text or binary. */
export type AgentMessage = string | Uint8Array<ArrayBuffer>;

/** The format of the line that an agent is connected to. */
export interface LineFormat {
  /** Samples per second of the call's stream. */
  readonly sampleRate: 8000 | 16000;
}

/** The formats of an agent's audio. */
export interface Formats {
  /** The callee's audio, as the agent takes it. */
  readonly input: AudioFormat;
  /** The agent's own audio. */
  readonly output: AudioFormat;
}

/** What a message of an agent means. */
export type AgentEvent =
  /**
   * The agent is configured: from now on it gets the callee's audio. Unless the callee `begins`, an agent that sends
   * no audio counts as gone.
   */
  | { readonly type: "ready"; readonly begins?: "agent" | "callee" | undefined }
  /**
   * Audio for the callee. `item` names what can be truncated on its own, `response` the response that it belongs
   * to: after an interruption the rest of that response is dropped, until `response_started` has its name, or a
   * `response_done` whose outcome isn't `cancelled`.
   */
  | {
      readonly type: "audio";
      readonly audio: Uint8Array<ArrayBuffer>;
      readonly item?: string | undefined;
      readonly response?: string | undefined;
    }
  /**
   * A response has begun, perhaps before it has any audio. `request` is the id of the `say` or `reply` that asked for
   * it, where the service returns that.
   */
  | {
      readonly type: "response_started";
      readonly response: string;
      readonly request?: string | undefined;
    }
  /** All of a response has come. */
  | {
      readonly type: "response_done";
      readonly response?: string | undefined;
      /**
       * Left out when it was completed. After a failed one the callee still waits for a response; of a cancelled one
       * nothing more is played.
       */
      readonly outcome?: "failed" | "cancelled" | undefined;
    }
  /** The callee speaks: the agent must be silent at once. */
  | { readonly type: "interrupted" }
  /** The callee speaks, and the agent yields by itself: only a pending hangup is canceled. */
  | { readonly type: "speech" }
  /** The callee has finished speaking: a response is expected. */
  | { readonly type: "speech_stopped" }
  /** A text of what was said; `response` names the response that it belongs to. */
  | ({ readonly type: "transcript"; readonly response?: string | undefined } & Transcript)
  /** The agent calls a tool; `response` names the response that it belongs to: an interrupted one runs none. */
  | ({ readonly type: "tool"; readonly response?: string | undefined } & ToolCall)
  /** The agent doesn't want the result of a tool any more. */
  | { readonly type: "tool_cancelled"; readonly id: string }
  /** The connection sends something at once, such as a `pong`. */
  | { readonly type: "send"; readonly messages: readonly AgentMessage[] }
  /**
   * The service refused a `say` or a `reply`, for now: by its id where it returns that, else the last one. It is sent
   * again once neither side speaks.
   */
  | { readonly type: "refused"; readonly id?: string | undefined }
  /**
   * A response has failed: before its `response_done`. One that a repetition may mend is `transient`: `retry` of the
   * codec then asks for it again, unless audible audio or a tool call of it has come.
   */
  | {
      readonly type: "failed";
      readonly transient: boolean;
      readonly response?: string | undefined;
    }
  /** What the service counts, since its last such event, or since the beginning if it is a `total`. */
  | {
      readonly type: "usage";
      readonly tokens?: number | undefined;
      readonly seconds?: number | undefined;
      readonly total?: boolean | undefined;
    }
  /** The agent reports an error, with its own code. One that no repetition mends ends the call: `agent_refused`. */
  | { readonly type: "error"; readonly code: string }
  /** The agent has ended the conversation. */
  | {
      readonly type: "end";
      readonly reason: "session_limit" | "agent_refused" | "agent_lost" | "agent_ended";
    };

/** An event of one type. */
export type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

/**
 * A transcript of the agent or of the callee. What was played are the final texts of each item, one after the other: a
 * text that `replaces` takes the place of the item's earlier ones, and of an `interrupted` one only the beginning was
 * played, `played` of its `duration`.
 */
export interface Transcript {
  /** Who said it. */
  readonly who: "agent" | "callee";
  /** What was said. */
  readonly text: string;
  /** `false` for a piece of a text that comes whole later. */
  readonly final: boolean;
  /** Names the utterance that the text belongs to, where the agent names it. */
  readonly item?: string | undefined;
  /** The callee interrupted the utterance. */
  readonly interrupted?: boolean | undefined;
  /** The text takes the place of all earlier texts of its item. */
  readonly replaces?: boolean | undefined;
  /** Milliseconds of the utterance that were played before it was interrupted. */
  readonly played?: number | undefined;
  /** Milliseconds of the utterance that had come from the agent when it was interrupted. */
  readonly duration?: number | undefined;
}

/** What a tool is given beside its arguments. */
export interface ToolContext {
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal;
  /** The session in which it was called: to say something while it runs, or to leave the call. */
  readonly session: AgentSession;
  /** The first message of the stream, with the call's ids. */
  readonly start: MediaStart;
  /** The context of the signed `ws_url`, verified; `{}` where there is none. */
  readonly context: Context;
  /** The final texts of the call so far, as they were played: at most the last 500. */
  readonly transcripts: readonly CallTranscript[];
}

/** A function that an agent can call. */
export interface Tool {
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** A JSON schema of its arguments; `@valibot/to-json-schema` makes one of a valibot schema. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Runs it. The model gets what it returns: text as it is, anything else as JSON. What it throws goes to `onError`,
   * and the model gets that it failed. Check the arguments: a model wrote them.
   */
  readonly run: (args: unknown, context: ToolContext) => unknown;
  /**
   * Milliseconds that it may take.
   *
   * @defaultValue `toolTimeout` of the session
   */
  readonly timeout?: number | undefined;
}

/** Tools by their names. */
export type Tools = Readonly<Record<string, Tool>>;

/** An agent's call of a tool. */
export interface ToolCall {
  /** The agent's id of the call. One that is repeated within its response runs once; without a `response`, with the same arguments. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** As the agent wrote them: text in JSON, or a value that was JSON. */
  readonly arguments: unknown;
}

/** The result of a tool call. */
export interface ToolResult {
  /** The agent's id of the call. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The result as text. */
  readonly output: string;
  /** Whether the tool failed. */
  readonly isError: boolean;
  /** Whether the agent is to respond to it. */
  readonly reply: boolean;
}

/** How much of an item was played when it was cut off. */
export interface Cut {
  /** The name of the item. */
  readonly item: string;
  /** Milliseconds that were played, never more than were sent. */
  readonly played: number;
  /** Milliseconds that had come from the agent. */
  readonly duration: number;
}

/**
 * One conversation with an agent, as messages: a codec, without I/O. The messages that its functions return are sent
 * in order. `decode` may throw on a malformed message: that goes to `onError`, and the call continues. If another
 * function throws, the call ends: `agent_failed`.
 */
export interface Codec {
  /** Known at the latest with the `ready` event. */
  readonly formats: Formats | undefined;
  /** Whether the agent's audio never stops, silence included: then a backlog is shortened by its silence. */
  readonly continuous?: boolean;
  /** Sent when nothing else was sent for `after` milliseconds. */
  readonly keepAlive?: { readonly after: number; readonly message: AgentMessage } | undefined;
  /** Something harmless that is always answered: sent before an agent counts as silent. */
  readonly probe?: AgentMessage | undefined;
  /** Called as soon as the socket is open, perhaps while the telephone still rings. */
  readonly open: () => readonly AgentMessage[];
  /**
   * Whether `ready` comes before `answered`, too: then `answered` is called once the agent has said the text of an
   * opening, or has it as context.
   */
  readonly readyBeforeAnswered?: boolean;
  /** Called once the callee is on the line and the socket is open: whatever makes the agent speak. */
  readonly answered: () => readonly AgentMessage[];
  /** Encodes the callee's audio, which has the `input` format. */
  readonly encode: (audio: Uint8Array<ArrayBuffer>) => readonly AgentMessage[];
  /** Decodes a message of the agent. */
  readonly decode: (message: AgentMessage) => readonly AgentEvent[];
  /** Called when the callee has interrupted: what was cut off, in the order in which it began. */
  readonly interrupted: (cuts: readonly Cut[]) => readonly AgentMessage[];
  /** Called with the result of a tool. It returns nothing that makes the agent speak, if there is `due`. */
  readonly toolResult: (result: ToolResult) => readonly AgentMessage[];
  /**
   * Called when the agent may speak: the callee is silent, no tool runs, and a tool has its result, a response is done,
   * or an error was reported. Returns what asks for a response, if one is due.
   */
  readonly due?: () => readonly AgentMessage[];
  /**
   * Has the agent say a text word for word. `id` comes back in `refused` and in `response_started`, where the service
   * can carry it.
   */
  readonly say?: ((text: string, id: string) => readonly AgentMessage[]) | undefined;
  /** Asks for a response; the instructions hold for it alone, beside those of the session. */
  readonly reply?:
    | ((instructions: string | undefined, id: string) => readonly AgentMessage[])
    | undefined;
  /** Adds something to know, without a response. */
  readonly addContext?: ((text: string) => readonly AgentMessage[]) | undefined;
  /** Changes the instructions of the session. */
  readonly setInstructions?: ((text: string) => readonly AgentMessage[]) | undefined;
  /**
   * Stops the response that is being made, whose further audio is dropped: called in the place of `interrupted` where the
   * application interrupts.
   */
  readonly cancel?: ((cuts: readonly Cut[]) => readonly AgentMessage[]) | undefined;
  /** Asks again for a response that has failed and was `transient`. */
  readonly retry?: (() => readonly AgentMessage[]) | undefined;
  /** Called before the socket is closed. */
  readonly close?: () => readonly AgentMessage[];
}

/** Which methods of a session an agent has: those whose function its codec has. */
export type AgentAbilities = Readonly<
  Record<"say" | "reply" | "addContext" | "setInstructions" | "cancel", boolean>
>;

/**
 * A speech model or service: its endpoint, and its protocol. `openaiRealtime`, `gptLive`, `elevenlabs`, `deepgram` and
 * `gemini` return one; another is a dozen lines for each of these functions.
 *
 * @example An agent of your own, that repeats the callee's audio
 * ```ts
 * import type { Agent, AgentEvent, AgentMessage } from "outdial/agents";
 *
 * const parrot: Agent = {
 *   name: "parrot",
 *   address: () => ({ url: "wss://parrot.test/", headers: { Authorization: "Bearer key" } }),
 *   codec: ({ sampleRate }) => {
 *     const format = { encoding: "pcm", sampleRate } as const;
 *     return {
 *       formats: { input: format, output: format },
 *       open: () => [JSON.stringify({ hello: sampleRate })],
 *       answered: () => [],
 *       encode: (audio) => [audio],
 *       decode: (message: AgentMessage): readonly AgentEvent[] => {
 *         if (typeof message !== "string") return [{ type: "audio", audio: message }];
 *         const { event } = JSON.parse(message);
 *         return event === "ready" ? [{ type: "ready" }] : [{ type: "interrupted" }];
 *       },
 *       interrupted: (cuts) => [JSON.stringify({ cuts })],
 *       toolResult: ({ output }) => [output],
 *     };
 *   },
 * };
 * console.log(parrot.codec({ sampleRate: 8000 }).open()); // [ '{"hello":8000}' ]
 * ```
 * @see docs/agents.md
 */
export interface Agent {
  /** Its name in errors and figures. */
  readonly name: string;
  /** The tools that it may call. */
  readonly tools?: Tools | undefined;
  /** What it can, to be known before the call; left out, its codec shows it. `cancel` is what `interrupt` needs. */
  readonly can?: AgentAbilities | undefined;
  /** Returns its endpoint; called each time a socket is opened. */
  readonly address: () => Address | Promise<Address>;
  /** Opens its socket, where the option `open` doesn't: an agent without a network has a socket of its own. */
  readonly open?: OpenSocket | undefined;
  /** Begins a conversation on a line. */
  readonly codec: (line: LineFormat) => Codec;
}

/** A text of a call. */
export interface CallTranscript extends Transcript {
  /** Milliseconds from the start of the stream until the text came. */
  readonly ms: number;
}
