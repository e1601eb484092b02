import type { Socket } from "./socket.ts";

/** Somebody between a call's audio and an agent that speaks OpenAI's Realtime protocol. */
export interface Contender {
  /** Puts an agent on a line, on sockets of this process, until both sides are ready. */
  readonly connect: (sample_rate: 8000 | 16000) => Promise<Connection>;
  /** 20 ms of the callee, as the service of this contender sends them. */
  readonly said: (sample_rate: 8000 | 16000) => string;
  /** Milliseconds of audio in a message to the service. */
  readonly msOf: (message: string) => number;
  readonly isClear: (message: string) => boolean;
}

/** A line with an agent on it. */
interface Connection {
  /** The service's socket. */
  readonly line: Socket;
  /** The agent's. */
  readonly mind: Socket;
  readonly close: () => unknown;
}

export const tick = () => new Promise((resolve) => setTimeout(resolve));

const base64 = (bytes: number): string => Buffer.alloc(bytes, 0x5a).toString("base64");

/** So many milliseconds of an answer of the agent's. */
export const delta = (answer: number, ms: number, sample_rate: 8000 | 16000): string =>
  JSON.stringify({
    type: "response.output_audio.delta",
    event_id: "event_1",
    response_id: `resp_${answer}`,
    item_id: `item_${answer}`,
    output_index: 0,
    content_index: 0,
    delta: base64(sample_rate === 8000 ? ms * 8 : ms * 48),
  });

/** An answer begins. */
export const created = (answer: number): string =>
  JSON.stringify({
    type: "response.created",
    event_id: "event_2",
    response: {
      id: `resp_${answer}`,
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

export const sessionUpdated = JSON.stringify({
  type: "session.updated",
  event_id: "event_4",
  session: { type: "realtime" },
});

/** 16-bit samples of a message of ours, in ms at 8 kHz. */
const msIn = (audio_b64: string): number => (audio_b64.length * 3) / 4 / 16;

/** What the messages are on a line of this project's own service. */
export const ourLine = {
  said: (sample_rate: 8000 | 16000): string => {
    const data = { audio_b64: base64(sample_rate / 25) };
    return JSON.stringify({ type: "audio", stream_id: "st_1", message_id: 2, data });
  },
  msOf: (message: string): number => {
    const { audio_b64 = "" } = JSON.parse(message);
    return msIn(audio_b64);
  },
  isClear: (message: string): boolean => message === '{"type":"clear"}',
};
