// Everyone who connects a call to an agent, on sockets of one process.
import { TwilioRealtimeTransportLayer } from "@openai/agents-extensions";
import {
  type AgentSocket,
  type AgentSocketEvent,
  connectAgent,
  openaiRealtime,
} from "outdial/agents";
import type { MediaEvent, MediaSocket } from "outdial/flows";
import type { WebSocket } from "ws";

type Listener = (event: MediaEvent) => void;

/** A socket whose other end is in this process. */
class LocalSocket implements MediaSocket, AgentSocket {
  readyState = 1;
  bufferedAmount = 0;
  readonly #listeners = new Map<AgentSocketEvent, Set<Listener>>();
  onSend: (message: string) => void = () => {};

  send(message: string | Uint8Array): void {
    this.onSend(String(message));
  }

  close(): void {
    this.readyState = 3;
  }

  addEventListener(type: AgentSocketEvent, listener: Listener): void {
    this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: AgentSocketEvent, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener);
  }

  /** Receives a message. */
  emit(data: string): void {
    for (const listener of this.#listeners.get("message") ?? [])
      listener({ type: "message", data });
  }

  /** The other end closes. */
  end(): void {
    this.readyState = 3;
    for (const listener of this.#listeners.get("close") ?? [])
      listener({ type: "close", code: 1000 });
  }

  /** Listeners that are left. */
  get listeners(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

/** A bridge between a call's audio and an agent with OpenAI's Realtime protocol. */
export interface Contender {
  /** Connects an agent to a call, on sockets of this process, and resolves when both sides are ready. */
  readonly connect: (sample_rate: 8000 | 16000) => Promise<Connection>;
  /** 20 ms of the callee, as this contender's service sends them. */
  readonly calleeAudio: (sample_rate: 8000 | 16000) => string;
  /** Milliseconds of audio in a message to the service. */
  readonly msOf: (message: string) => number;
  readonly isClear: (message: string) => boolean;
}

/** A call with an agent. */
interface Connection {
  readonly callSocket: LocalSocket;
  readonly agentSocket: LocalSocket;
  readonly close: () => unknown;
}

export const tick = () => new Promise((resolve) => setTimeout(resolve));

const base64 = (bytes: number): string => Buffer.alloc(bytes, 0x5a).toString("base64");

/** Audio of an agent's response, in milliseconds. */
export const delta = (response: number, ms: number, sample_rate: 8000 | 16000): string =>
  JSON.stringify({
    type: "response.output_audio.delta",
    event_id: "event_1",
    response_id: `resp_${response}`,
    item_id: `item_${response}`,
    output_index: 0,
    content_index: 0,
    delta: base64(sample_rate === 8000 ? ms * 8 : ms * 48),
  });

/** A response begins. */
export const created = (response: number): string =>
  JSON.stringify({
    type: "response.created",
    event_id: "event_2",
    response: {
      id: `resp_${response}`,
      object: "realtime.response",
      status: "in_progress",
      output: [],
    },
  });

/** The callee speaks. */
export const speechStarted = JSON.stringify({
  type: "input_audio_buffer.speech_started",
  event_id: "event_3",
  item_id: "item_callee",
  audio_start_ms: 0,
});

const sessionUpdated = JSON.stringify({
  type: "session.updated",
  event_id: "event_4",
  session: { type: "realtime" },
});

/** Milliseconds of 16-bit samples at 8 kHz. */
const msIn = (audio_b64: string): number => (audio_b64.length * 3) / 4 / 16;

/** The messages of the service that outdial calls. */
const ourMessages = {
  calleeAudio: (sample_rate: 8000 | 16000): string => {
    const data = { audio_b64: base64(sample_rate / 25) };
    return JSON.stringify({ type: "audio", stream_id: "st_1", message_id: 2, data });
  },
  msOf: (message: string): number => {
    const { audio_b64 = "" } = JSON.parse(message);
    return msIn(audio_b64);
  },
  isClear: (message: string): boolean => message === '{"type":"clear"}',
};

/** A relay that only copies the audio into the other side's message: the least that is possible. */
export const relay: Contender = {
  ...ourMessages,
  connect: async () => {
    const [callSocket, agentSocket] = [new LocalSocket(), new LocalSocket()];
    callSocket.addEventListener("message", ({ data }) => {
      const audio = JSON.parse(String(data)).data.audio_b64;
      agentSocket.send(JSON.stringify({ type: "input_audio_buffer.append", audio }));
    });
    agentSocket.addEventListener("message", ({ data }) => {
      const { type, delta } = JSON.parse(String(data));
      if (type === "input_audio_buffer.speech_started") callSocket.send('{"type":"clear"}');
      else callSocket.send(JSON.stringify({ type: "audio", audio_b64: delta, chunk_id: "1" }));
    });
    return { callSocket, agentSocket, close: () => {} };
  },
};

const agent = openaiRealtime({ apiKey: "sk-key", greeting: false });

/** `connectAgent`. */
export const ours: Contender = {
  ...ourMessages,
  connect: async (sample_rate) => {
    const [callSocket, agentSocket] = [new LocalSocket(), new LocalSocket()];
    const { close } = connectAgent(callSocket, agent, { open: () => agentSocket });
    const data = { encoding: "audio/l16", sample_rate, channels: 1 };
    const ids = { account_id: "acc_1", call_id: "cs_1", stream_id: "st_1", message_id: 1 };
    callSocket.emit(JSON.stringify({ type: "start", ...ids, data }));
    await tick();
    agentSocket.emit(sessionUpdated);
    return { callSocket, agentSocket, close };
  },
};

const audio = { payload: Buffer.alloc(160, 0x5a).toString("base64"), timestamp: "0" };

/** The peer's session: the same turn detection as ours. */
export const sessionConfig = {
  audio: {
    input: {
      turnDetection: {
        type: "server_vad",
        createResponse: true,
        interruptResponse: true,
      },
    },
  },
} as const;

/** The start of a stream with Twilio's framing. */
export const started = JSON.stringify({
  event: "start",
  streamSid: "MZ1",
  start: {
    streamSid: "MZ1",
    mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
  },
});

/** `@openai/agents-extensions`, with the framing of the only service that it supports: 8 kHz, and acknowledged. */
export const theirs: Contender = {
  connect: async () => {
    const [callSocket, agentSocket] = [new LocalSocket(), new LocalSocket()];
    const transport = new TwilioRealtimeTransportLayer({
      twilioWebSocket: callSocket as unknown as WebSocket,
      createWebSocket: async () => agentSocket as unknown as WebSocket,
      skipOpenEventListeners: true,
    });
    transport.on("error", (error) => console.error(error));
    const connected = transport.connect({
      apiKey: "sk-key",
      model: "gpt-realtime",
      initialSessionConfig: sessionConfig,
    });
    callSocket.emit(started);
    await tick();
    agentSocket.emit(sessionUpdated);
    await connected;
    return { callSocket, agentSocket, close: () => callSocket.end() };
  },
  calleeAudio: () => JSON.stringify({ event: "media", streamSid: "MZ1", media: audio }),
  msOf: (message) => {
    const { payload = "" } = JSON.parse(message).media ?? {};
    return (payload.length * 3) / 4 / 8;
  },
  isClear: (message) => message.startsWith('{"event":"clear"'),
};
