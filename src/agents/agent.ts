import type { AudioFormat } from "./audio/format.ts";
import type { Tools } from "./tool.ts";

/** A message on the agent's socket: text, or binary. */
export type Frame = string | Uint8Array<ArrayBuffer>;

/** Where an agent is, and what shows it who asks. */
export interface Address {
  /** A wss URL; plain ws on loopback only. Never with the key in it. */
  readonly url: string;
  /** Sent where the runtime's WebSocket can: on Node, Deno, Bun and Workers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Offered where it can't, and always when there are no `headers`. */
  readonly protocols?: readonly string[] | undefined;
  /** A request that gives the URL to connect to, for services that sign one; then `url` isn't used. */
  readonly ticket?: Ticket | undefined;
}

/** A GET whose answer has the URL to connect to. */
export interface Ticket {
  /** An https URL; plain http on loopback only. */
  readonly url: string;
  /** They hold a key: log none of them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Finds the URL in the answer's JSON. */
  readonly read: (answer: unknown) => unknown;
}

/** The line that an agent is put on. */
export interface Line {
  /** Samples a second of the call's stream. */
  readonly sample_rate: 8000 | 16000;
}

/** How an agent wants to hear, and how it speaks. */
export interface Formats {
  /** What it is sent. */
  readonly hears: AudioFormat;
  /** What comes from it. */
  readonly speaks: AudioFormat;
}

/** What an agent's messages mean. */
export type AgentEvent =
  /**
   * It is configured: from now on it hears the callee. Unless the callee `begins`, nothing coming of it means
   * that it is gone.
   */
  | { readonly type: "ready"; readonly begins?: "agent" | "callee" | undefined }
  /**
   * It says something. `item` names what can be cut off on its own, `turn` the answer that it belongs to:
   * what comes of a turn after an interruption is dropped, until `turn` or `done` says that one of this name
   * has begun or ended.
   */
  | {
      readonly type: "audio";
      readonly audio: Uint8Array<ArrayBuffer>;
      readonly item?: string | undefined;
      readonly turn?: string | undefined;
    }
  /** An answer begins, perhaps before it has any audio. */
  | { readonly type: "turn"; readonly turn: string }
  /** All of an answer has come. */
  | { readonly type: "done"; readonly turn?: string | undefined }
  /** The callee speaks: the agent must be silent at once. */
  | { readonly type: "interrupted" }
  /** The callee speaks, and the agent makes room by itself: only a goodbye is called off. */
  | { readonly type: "speech" }
  | ({ readonly type: "transcript" } & Transcript)
  /** It asks for a tool. */
  | ({ readonly type: "tool" } & ToolCall)
  /** It doesn't want a tool's answer any more. */
  | { readonly type: "tool_cancelled"; readonly id: string }
  /** It must be sent something at once, such as a `pong`. */
  | { readonly type: "send"; readonly frames: readonly Frame[] }
  /** It complains, in one word of its own. */
  | { readonly type: "error"; readonly code: string }
  /** It has ended the conversation, because of its own limit or as it was asked to. */
  | { readonly type: "end"; readonly reason: "session_limit" | "agent_refused" | "agent_ended" };

/** A piece of what was said, in words. */
export interface Transcript {
  /** Whose words they are. */
  readonly who: "agent" | "callee";
  /** What was said. */
  readonly text: string;
  /** `false` for a piece that is followed by the rest of the sentence. */
  readonly final: boolean;
}

/** An agent's wish to use a tool. */
export interface ToolCall {
  /** The agent's own name for this use of it. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** As the agent wrote them: text in JSON, or a value that was JSON. */
  readonly arguments: unknown;
}

/** What came of it. */
export interface ToolResult {
  /** The agent's own name for this use of it. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** What the agent is told. */
  readonly output: string;
  /** Whether the tool failed. */
  readonly isError: boolean;
  /** Whether the agent is to say something about it. */
  readonly reply: boolean;
}

/** How much of something the callee has heard when it was cut off. */
export interface Cut {
  /** Which of the things that the agent said. */
  readonly item: string;
  /** Milliseconds that were heard, never more than were sent. */
  readonly heard: number;
  /** Milliseconds that the agent had said. */
  readonly of: number;
}

/**
 * One conversation with an agent, as messages: a codec, without I/O. What its functions give is sent in
 * order. `read` may throw on a message that makes no sense: that is told, and the call goes on. If another
 * throws, the call ends: `agent_failed`.
 */
export interface Codec {
  /** Once known, which is at the latest when it says `ready`. */
  readonly formats: Formats | undefined;
  /** Whether its voice never stops, silence included: then a backlog is shortened by its silence. */
  readonly continuous?: boolean;
  /** Sent when nothing else was sent for so many milliseconds. */
  readonly keepAlive?: { readonly after: number; readonly frame: Frame } | undefined;
  /** Something harmless that is always answered: sent before an agent counts as silent. */
  readonly probe?: Frame | undefined;
  /** As soon as the socket is open, perhaps while the telephone still rings. */
  readonly open: () => readonly Frame[];
  /** Once the callee is on the line and the socket is open: whatever makes the agent speak. */
  readonly answered: () => readonly Frame[];
  /** The callee says something, in the format that it `hears`. */
  readonly hear: (audio: Uint8Array<ArrayBuffer>) => readonly Frame[];
  /** The agent has sent a message. */
  readonly read: (frame: Frame) => readonly AgentEvent[];
  /** The callee has interrupted: what was cut off, in the order in which it was said. */
  readonly interrupted: (cuts: readonly Cut[]) => readonly Frame[];
  /** A tool has done its work. */
  readonly toolResult: (result: ToolResult) => readonly Frame[];
  /** Before the socket is closed. */
  readonly close?: () => readonly Frame[];
}

/**
 * A speech model or service: where it is, and how it is spoken with. `openaiRealtime`, `gptLive`,
 * `elevenlabs` and `deepgram` are such; another is a dozen lines for each of these functions.
 *
 * @example An agent of your own, that says back what it hears
 * ```ts
 * import type { Agent, AgentEvent, Frame } from "outdial/agents";
 *
 * const parrot: Agent = {
 *   name: "parrot",
 *   address: () => ({ url: "wss://parrot.test/", headers: { Authorization: "Bearer key" } }),
 *   codec: ({ sample_rate }) => {
 *     const format = { encoding: "pcm", sample_rate } as const;
 *     return {
 *       formats: { hears: format, speaks: format },
 *       open: () => [JSON.stringify({ hello: sample_rate })],
 *       answered: () => [],
 *       hear: (audio) => [audio],
 *       read: (frame: Frame): readonly AgentEvent[] => {
 *         if (typeof frame !== "string") return [{ type: "audio", audio: frame }];
 *         const { event } = JSON.parse(frame);
 *         return event === "ready" ? [{ type: "ready" }] : [{ type: "interrupted" }];
 *       },
 *       interrupted: (cuts) => [JSON.stringify({ cuts })],
 *       toolResult: ({ output }) => [output],
 *     };
 *   },
 * };
 * console.log(parrot.codec({ sample_rate: 8000 }).open()); // [ '{"hello":8000}' ]
 * ```
 * @see docs/flows.md
 */
export interface Agent {
  /** What it is called in errors and figures. */
  readonly name: string;
  /** What it may do, beside talking. */
  readonly tools?: Tools | undefined;
  /** Where it is, asked for each time a socket is opened. */
  readonly address: () => Address | Promise<Address>;
  /** Begins a conversation, on a line. */
  readonly codec: (line: Line) => Codec;
}
