import { base64, decoded } from "../../../bytes/base64.ts";
import type { AgentEvent, Codec, Cut, Formats, Frame, Line, ToolResult } from "../../agent.ts";
import { offered } from "../../tool.ts";
import { frameOf, type Message, messageIn, part, text } from "../message.ts";
import type { OpenAIRealtimeOptions, OpenAITurnDetection } from "./options.ts";

/** What a service calls an error, and what is none: somebody was faster. */
const harmless: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "response_cancel_not_active",
  "conversation_already_has_active_response",
]);

const formatOf = ({ encoding, sample_rate }: Formats["hears"]): object =>
  encoding === "ulaw" ? { type: "audio/pcmu" } : { type: "audio/pcm", rate: sample_rate };

/** An item and which of its parts, as one name. */
const nameOf = (message: Message): string =>
  `${Number(message.content_index) || 0} ${text(message, "item_id")}`;

/** Writes and reads the messages of OpenAI's Realtime protocol. */
export class RealtimeCodec implements Codec {
  readonly formats: Formats;
  readonly probe: Frame = frameOf({ type: "session.update", session: { type: "realtime" } });
  readonly #options: OpenAIRealtimeOptions;
  readonly #turnDetection: OpenAITurnDetection;
  /** The answer that is being made. */
  #response: string | undefined;
  /** Tools that have no answer yet. */
  readonly #asked = new Set<string>();
  /** Whether the model is to say something about the tools, as soon as it can. */
  #owes = false;

  constructor(options: OpenAIRealtimeOptions, { sample_rate }: Line) {
    const format =
      sample_rate === 8000
        ? ({ encoding: "ulaw", sample_rate: 8000 } as const)
        : ({ encoding: "pcm", sample_rate: 24_000 } as const);
    this.formats = { hears: format, speaks: format };
    this.#options = options;
    this.#turnDetection = {
      create_response: true,
      interrupt_response: true,
      ...(options.turnDetection ?? { type: "server_vad" }),
    };
  }

  open(): readonly Frame[] {
    const { instructions, voice = "marin", tools, transcription } = this.#options;
    const model = transcription ?? "gpt-4o-mini-transcribe";
    const session = {
      type: "realtime",
      instructions,
      output_modalities: ["audio"],
      tools: offered(tools).map((tool) => ({ type: "function", ...tool })),
      audio: {
        input: {
          format: formatOf(this.formats.hears),
          ...(model && { transcription: { model } }),
          turn_detection: this.#turnDetection,
        },
        output: { format: formatOf(this.formats.speaks), voice },
      },
    };
    return [frameOf({ type: "session.update", session })];
  }

  answered(): readonly Frame[] {
    const { greeting, instructions = "" } = this.#options;
    if (greeting === false) return [];
    const response = greeting && { instructions: `${instructions}\n\nBegin with: ${greeting}` };
    return [frameOf({ type: "response.create", ...(response && { response }) })];
  }

  hear(audio: Uint8Array): readonly Frame[] {
    return [frameOf({ type: "input_audio_buffer.append", audio: base64(audio) })];
  }

  read(frame: Frame): readonly AgentEvent[] {
    const message = messageIn(frame);
    return this.#readers[text(message, "type")]?.(message) ?? [];
  }

  readonly #readers: Readonly<Record<string, (message: Message) => readonly AgentEvent[]>> = {
    "session.updated": () => [
      { type: "ready", ...(this.#options.greeting === false && { begins: "callee" }) },
    ],
    "response.created": (message) => {
      this.#response = text(part(message, "response"), "id");
      return [{ type: "turn", turn: this.#response }];
    },
    "response.output_audio.delta": (message) => {
      const audio = decoded(text(message, "delta"));
      const turn = text(message, "response_id") || this.#response; // Some gateways leave it out.
      return [{ type: "audio", audio, item: nameOf(message), turn }];
    },
    "response.output_audio_transcript.delta": (message) => [
      { type: "transcript", who: "agent", text: text(message, "delta"), final: false },
    ],
    "response.output_audio_transcript.done": (message) => [
      { type: "transcript", who: "agent", text: text(message, "transcript"), final: true },
    ],
    "conversation.item.input_audio_transcription.completed": (message) => [
      { type: "transcript", who: "callee", text: text(message, "transcript"), final: true },
    ],
    "input_audio_buffer.speech_started": () => [{ type: "interrupted" }],
    "response.function_call_arguments.done": (message) => {
      const id = text(message, "call_id");
      this.#asked.add(id);
      const { arguments: given } = message;
      return [{ type: "tool", id, name: text(message, "name"), arguments: given }];
    },
    "response.done": (message) => {
      const response = part(message, "response");
      const turn = text(response, "id") || this.#response;
      if (turn === this.#response) this.#response = undefined;
      const events: AgentEvent[] = [{ type: "done", turn }];
      const { code } = part(part(response, "status_details"), "error");
      if (response.status === "failed") events.push({ type: "error", code: String(code) });
      const frames = this.#due();
      return frames.length ? [...events, { type: "send", frames }] : events;
    },
    error: (message) => {
      const error = part(message, "error");
      const code = text(error, "code") || text(error, "type");
      if (harmless.has(code)) return [];
      const events: AgentEvent[] = [{ type: "error", code }];
      if (code === "session_expired") events.push({ type: "end", reason: "session_limit" });
      if (code === "invalid_api_key") events.push({ type: "end", reason: "agent_refused" });
      return events;
    },
  };

  interrupted(cuts: readonly Cut[]): readonly Frame[] {
    const isOurs = this.#response !== undefined && !this.#turnDetection.interrupt_response;
    const cancel = { type: "response.cancel", response_id: this.#response || undefined };
    const truncations = cuts.map(({ item, heard }) => ({
      type: "conversation.item.truncate",
      item_id: item.slice(item.indexOf(" ") + 1),
      content_index: Number.parseInt(item, 10),
      audio_end_ms: heard,
    }));
    return [...(isOurs ? [cancel] : []), ...truncations].map(frameOf);
  }

  toolResult({ id, output, reply }: ToolResult): readonly Frame[] {
    this.#asked.delete(id);
    this.#owes ||= reply;
    const item = { type: "function_call_output", call_id: id, output };
    return [frameOf({ type: "conversation.item.create", item }), ...this.#due()];
  }

  /** One answer for all tools of a turn, and not before the turn has ended: another would be refused. */
  #due(): readonly Frame[] {
    if (!this.#owes || this.#asked.size > 0 || this.#response !== undefined) return [];
    this.#owes = false;
    return [frameOf({ type: "response.create" })];
  }
}
