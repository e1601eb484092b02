import {
  type Agent,
  type AgentMessage,
  deepgram,
  elevenlabs,
  gemini,
  gptLive,
  type MediaClock,
  openaiRealtime,
  type Tools,
} from "outdial/agents";
import type { MediaEvent } from "outdial/flows";
import { base64, type Coding, decoded, level, pcm, ulaw } from "./sound.ts";

/** The names of the protocols that a model of these tests speaks. */
export const protocolNames = ["openai", "deepgram", "elevenlabs", "gpt-live", "gemini"] as const;
export type ProtocolName = (typeof protocolNames)[number];

/** The level of an answer's samples, the first of which is 0. */
export const levelOf = (answer: number): number => 10_000 + 3_000 * (answer % 6);

/** A call of a tool. */
interface ModelCall {
  readonly name: string;
  readonly args: object;
}

/** What a model does. Times are in ms. */
export interface Behaviour {
  /** How long each of its answers is: 800 by default. */
  readonly answers?: readonly number[] | undefined;
  /** The answers, counted from 0, that call a tool after their audio, or several. */
  readonly calls?: Readonly<Record<number, ModelCall | readonly ModelCall[]>>;
  /**
   * How long after its text, and its calls of tools, the audio of an answer comes: with Deepgram's and ElevenLabs' protocol.
   */
  readonly speechDelays?: Readonly<Record<number, number>>;
  /** The answers that fail with `server_error`, after all of their audio and their tool: with OpenAI's protocol. */
  readonly failures?: readonly number[] | undefined;
  /** What its first words are: none by default. */
  readonly greeting?: string | undefined;
  /** Whether it reports that the callee speaks only while it makes an answer: with ElevenLabs' and Gemini's protocol. */
  readonly isDeafToOnsets?: boolean | undefined;
  /**
   * With Gemini's protocol: when the turn of a tool call ends. By default at once; `before` the call, which is late then; or it
   * stays `open` for 2 s, unless it goes on with the result, or a text interrupts it.
   */
  readonly toolTurn?: "before" | "open" | undefined;
  /** The mean size of samples above which it hears speech: 300 by default. */
  readonly loudness?: number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
type Send = (message: object | Uint8Array<ArrayBuffer>) => void;

/** How a protocol says what a model does. */
interface Dialect {
  readonly coding: () => Coding;
  readonly begin: (answer: number, request: unknown) => void;
  readonly audio: (answer: number, bytes: Uint8Array<ArrayBuffer>) => void;
  readonly tools: (calls: readonly (ModelCall & { readonly id: string })[], answer: number) => void;
  readonly done: (answer: number, isCut: boolean) => void;
  readonly failed?: (answer: number) => void;
  readonly speech: () => void;
  readonly speechStopped: () => void;
}

/** How long the callee must be quiet, and audible, for the model to notice, in ms; and one message of its audio. */
const patience = 400;
const onset = 60;
const piece = 100;

/** A model that answers the callee, and is silent when they begin: its time is that of the call. */
export class TimedModel {
  readyState = 1;
  readonly bufferedAmount = 0;
  /** What the application has sent, read. */
  readonly received: Fields[] = [];
  /** Audible milliseconds that it was sent, and when, by the clock. */
  readonly heard: { readonly at: number; readonly ms: number }[] = [];
  readonly #listeners = new Set<(event: MediaEvent) => void>();
  readonly #clock: MediaClock;
  readonly #behaviour: Behaviour;
  readonly #dialect: Dialect;
  readonly #receive: (message: Fields) => void;
  /** What it sends once its socket is open. */
  #welcome: object | undefined;
  #answers = 0;
  #cancel = () => {};
  #making: number | undefined;
  #loud = 0;
  #quiet = 0;
  /** Whether it speaks first, once it is listened to. */
  isSpeech = false;

  constructor(name: ProtocolName, clock: MediaClock, behaviour: Behaviour = {}) {
    this.#clock = clock;
    this.#behaviour = behaviour;
    const send: Send = (message) => this.#send(message);
    const { dialect, receive } = dialects[name](send, this, clock, behaviour);
    this.#dialect = dialect;
    this.#receive = receive;
    this.#welcome = name === "deepgram" ? { type: "Welcome" } : undefined;
  }

  get isMaking(): boolean {
    return this.#making !== undefined;
  }

  /** Says its next answer, asked for by some request. */
  answer(request?: unknown): void {
    const answer = this.#answers++;
    const { answers, calls = {}, speechDelays = {} } = this.#behaviour;
    let left = answers?.[answer] ?? 800;
    const delay = speechDelays[answer];
    const callTools = () => {
      const given = [calls[answer] ?? []].flat();
      const named = given.map((call, at) => ({ ...call, id: `call_${answer}${at || ""}` }));
      if (named.length > 0) this.#dialect.tools(named, answer);
    };
    this.#making = answer;
    this.#dialect.begin(answer, request);
    const make = () => {
      const ms = Math.min(piece, left);
      left -= ms;
      const { rate, write } = this.#dialect.coding();
      if (ms > 0) this.#dialect.audio(answer, write(level(levelOf(answer), ms, rate)));
      if (left > 0) {
        this.#cancel = this.#clock.after(piece / 5, make);
        return;
      }
      this.#making = undefined;
      if (delay === undefined) callTools();
      const hasFailed = this.#behaviour.failures?.includes(answer);
      if (hasFailed) this.#dialect.failed?.(answer);
      else this.#dialect.done(answer, false);
    };
    this.#cancel = this.#clock.after(100, () => {
      if (delay === undefined) return make();
      callTools();
      this.#cancel = this.#clock.after(delay, make);
    });
  }

  /** Hears samples of the callee. */
  hear(samples: Int16Array, rate: number): void {
    const ms = (samples.length / rate) * 1000;
    const sum = samples.reduce((total, sample) => total + Math.abs(sample), 0);
    const isLoud = sum > (this.#behaviour.loudness ?? 300) * samples.length;
    this.#loud = isLoud ? this.#loud + ms : 0;
    this.#quiet = isLoud ? 0 : this.#quiet + ms;
    if (isLoud) this.heard.push({ at: this.#clock.now(), ms });
    if (!this.isSpeech && this.#loud >= onset) {
      this.isSpeech = true;
      const isReported = this.isMaking || !this.#behaviour.isDeafToOnsets;
      this.cut();
      if (isReported) this.#dialect.speech();
    } else if (this.isSpeech && this.#quiet >= patience) {
      this.isSpeech = false;
      this.#dialect.speechStopped();
      this.answer();
    }
  }

  /** Stops the answer that is being made. */
  cut(): void {
    const answer = this.#making;
    this.#cancel();
    this.#making = undefined;
    if (answer !== undefined) this.#dialect.done(answer, true);
  }

  send(message: AgentMessage): void {
    if (typeof message !== "string") {
      const { rate, read } = this.#dialect.coding();
      this.hear(read(message), rate);
      return;
    }
    const fields = JSON.parse(message);
    const isAudio = fields.realtimeInput?.audio || /append$/.test(fields.type ?? "");
    if (!isAudio || fields.content) this.received.push(fields);
    this.#receive(fields);
  }

  #send(message: object | Uint8Array<ArrayBuffer>): void {
    const data = message instanceof Uint8Array ? message.slice().buffer : JSON.stringify(message);
    queueMicrotask(() => {
      if (this.readyState !== 1) return;
      for (const listener of this.#listeners) listener({ type: "message", data });
    });
  }

  close(): void {
    this.readyState = 3;
    this.#cancel();
    this.#making = undefined;
  }

  addEventListener(type: string, listener: (event: MediaEvent) => void): void {
    if (type !== "message") return;
    this.#listeners.add(listener);
    const welcome = this.#welcome;
    if (welcome) this.#clock.after(1, () => this.#send(welcome));
    this.#welcome = undefined;
  }

  removeEventListener(type: string, listener: (event: MediaEvent) => void): void {
    if (type === "message") this.#listeners.delete(listener);
  }
}

const dialects: Readonly<
  Record<
    ProtocolName,
    (
      send: Send,
      model: TimedModel,
      clock: MediaClock,
      behaviour: Behaviour,
    ) => { dialect: Dialect; receive: (message: Fields) => void }
  >
> = {
  openai: (send, model) => {
    let coding = ulaw;
    const ids = (answer: number) => ({
      response_id: `resp_${answer}`,
      item_id: `item_${answer}`,
      content_index: 0,
    });
    return {
      dialect: {
        coding: () => coding,
        begin: (answer, metadata) =>
          send({ type: "response.created", response: { id: `resp_${answer}`, metadata } }),
        audio: (answer, bytes) =>
          send({ type: "response.output_audio.delta", ...ids(answer), delta: base64(bytes) }),
        tools: (calls, answer) => {
          for (const { id, name, args } of calls) {
            send({
              type: "response.output_item.done",
              response_id: `resp_${answer}`,
              item: {
                type: "function_call",
                call_id: id,
                name,
                arguments: JSON.stringify(args),
                status: "completed",
              },
            });
          }
        },
        done: (answer, isCut) => {
          const status = isCut ? "cancelled" : "completed";
          send({ type: "response.done", response: { id: `resp_${answer}`, status } });
        },
        failed: (answer) => {
          const status_details = { type: "failed", error: { type: "server_error", code: null } };
          const response = { id: `resp_${answer}`, status: "failed", status_details };
          send({ type: "response.done", response });
        },
        speech: () => send({ type: "input_audio_buffer.speech_started" }),
        speechStopped: () => send({ type: "input_audio_buffer.speech_stopped" }),
      },
      receive: ({ type, session, audio, response, event_id }: Fields) => {
        if (type === "session.update") {
          const format = Object(session).audio?.input?.format?.type;
          if (format) coding = format === "audio/pcmu" ? ulaw : pcm(24_000);
          send({ type: "session.updated", session });
        } else if (type === "input_audio_buffer.append") {
          model.hear(coding.read(decoded(audio)), coding.rate);
        } else if (type === "response.cancel") model.cut();
        else if (type === "response.create" && model.isMaking) {
          const code = "conversation_already_has_active_response";
          send({ type: "error", error: { type: "invalid_request_error", code, event_id } });
        } else if (type === "response.create") model.answer(Object(response).metadata);
      },
    };
  },
  deepgram: (send, model) => {
    let coding = pcm(8_000);
    return {
      dialect: {
        coding: () => coding,
        begin: () => send({ type: "ConversationText", role: "assistant", content: "…" }),
        audio: (_, bytes) => send(bytes),
        tools: (calls) =>
          send({
            type: "FunctionCallRequest",
            functions: calls.map(({ id, name, args }) => ({
              ...{ id, name, arguments: JSON.stringify(args), client_side: true },
            })),
          }),
        done: (_, isCut) => {
          if (!isCut) send({ type: "AgentAudioDone" });
        },
        speech: () => send({ type: "UserStartedSpeaking" }),
        speechStopped: () => send({ type: "ConversationText", role: "user", content: "…" }),
      },
      receive: ({ type, audio }: Fields) => {
        if (type === "Settings") {
          coding = pcm(Object(audio).output.sample_rate);
          send({ type: "SettingsApplied" });
        } else if (type === "InjectAgentMessage" || type === "InjectUserMessage") {
          if (model.isSpeech || model.isMaking) send({ type: "InjectionRefused" });
          else model.answer();
        } else if (type === "FunctionCallResponse" && !model.isMaking) model.answer();
      },
    };
  },
  elevenlabs: (send, model) => {
    let events = 0;
    return {
      dialect: {
        coding: () => ulaw,
        begin: () => {
          const event = { agent_response: "…", event_id: ++events };
          send({ type: "agent_response", agent_response_event: event });
        },
        audio: (_, bytes) =>
          send({ type: "audio", audio_event: { audio_base_64: base64(bytes), event_id: events } }),
        tools: (calls) => {
          for (const { id, name, args } of calls) {
            const client_tool_call = { tool_call_id: id, tool_name: name, parameters: args };
            send({ type: "client_tool_call", client_tool_call });
          }
        },
        done: () => {},
        speech: () => send({ type: "interruption", interruption_event: { event_id: ++events } }),
        speechStopped: () =>
          send({ type: "user_transcript", user_transcription_event: { user_transcript: "…" } }),
      },
      receive: (message: Fields) => {
        if (message.user_audio_chunk)
          model.hear(ulaw.read(decoded(message.user_audio_chunk)), 8_000);
        else if (message.type === "conversation_initiation_client_data") {
          send({
            type: "conversation_initiation_metadata",
            conversation_initiation_metadata_event: {
              agent_output_audio_format: "ulaw_8000",
              user_input_audio_format: "ulaw_8000",
            },
          });
          if (Object(message.conversation_config_override).agent?.first_message) model.answer();
        } else if (message.type === "user_message") model.answer();
        else if (message.type === "client_tool_result" && !model.isMaking) model.answer();
      },
    };
  },
  gemini: (send, model, clock, { toolTurn }) => {
    const [coding, ears] = [pcm(24_000), pcm(16_000)];
    const content = (serverContent: object) => send({ serverContent });
    /** Ends the turn that a tool call has left open. */
    let close: (() => void) | undefined;
    let hasEnded = false;
    const end = (isCut: boolean) => {
      content(isCut ? { interrupted: true } : { generationComplete: true });
      content({ turnComplete: true });
    };
    return {
      dialect: {
        coding: () => coding,
        begin: () => {},
        audio: (_, bytes) =>
          content({ modelTurn: { parts: [{ inlineData: { data: base64(bytes) } }] } }),
        tools: (functionCalls) => {
          hasEnded = toolTurn === "before";
          if (hasEnded) end(false);
          send({ toolCall: { functionCalls } });
          if (toolTurn !== "open") return;
          const cancel = clock.after(2_000, () => {
            close = undefined;
            end(false);
          });
          close = () => {
            close = undefined;
            cancel();
          };
        },
        done: (_, isCut) => {
          if (!hasEnded && !close) end(isCut);
          hasEnded = false;
        },
        speech: () => {
          content({ interrupted: true });
          if (close) content({ turnComplete: true });
          close?.();
        },
        speechStopped: () => content({ inputTranscription: { text: "…" } }),
      },
      receive: ({ setup, realtimeInput, toolResponse }: Fields) => {
        const { text, audio } = Object(realtimeInput);
        if (setup) send({ setupComplete: {} });
        else if (audio) model.hear(ears.read(decoded(audio.data)), ears.rate);
        else if (text || (toolResponse && !model.isMaking)) {
          if (text && close) end(true);
          close?.();
          if (text) model.cut();
          model.answer();
        }
      },
    };
  },
  "gpt-live": (send, model, clock) => {
    let coding = ulaw;
    let words: Uint8Array<ArrayBuffer>[] = [];
    const speak = () => {
      if (model.readyState !== 1) return;
      const bytes = words.shift() ?? coding.write(level(0, piece, coding.rate));
      send({ type: "session.output_audio.delta", delta: base64(bytes) });
      clock.after(piece, speak);
    };
    return {
      dialect: {
        coding: () => coding,
        begin: () => {},
        audio: (_, bytes) => words.push(bytes),
        tools: (calls, answer) => {
          for (const { id, name, args } of calls) {
            const item = {
              ...{ type: "function_call", call_id: id, name, arguments: JSON.stringify(args) },
            };
            const event = { type: "response.output_item.done", item };
            send({ type: "response.event", delegation_id: `d${answer}`, event });
          }
          send({
            type: "response.event",
            delegation_id: `d${answer}`,
            event: { type: "response.completed" },
          });
        },
        done: () => {},
        speech: () => {
          words = [];
          send({ type: "session.input_transcript.delta", delta: "…" });
        },
        speechStopped: () => {},
      },
      receive: ({ type, audio, session }: Fields) => {
        if (type === "session.start") {
          coding = Object(session).audio.format.type === "audio/pcmu" ? ulaw : pcm(16_000);
          send({ type: "session.started" });
          speak();
        } else if (type === "session.input_audio.append") {
          model.hear(coding.read(decoded(audio)), coding.rate);
        } else if (type === "session.commentary.append" || type === "response.create")
          model.answer();
      },
    };
  },
};

/** An agent of a protocol, whose endpoint is a model of the test. */
export const agentOf = (name: ProtocolName, { greeting }: Behaviour = {}, tools?: Tools): Agent => {
  const common = { apiKey: "sk-MARKED", dangerouslyAllowBrowser: true, tools };
  return {
    openai: () => openaiRealtime({ ...common, greeting: greeting ?? false }),
    deepgram: () => deepgram({ ...common, greeting }),
    elevenlabs: () =>
      elevenlabs({ ...common, agentId: "agent_1", greeting, url: "wss://agent.test/" }),
    "gpt-live": () => gptLive({ ...common, greeting }),
    gemini: () => gemini({ ...common, greeting: greeting ?? false }),
  }[name]();
};
