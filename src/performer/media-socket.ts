/** An application's name for a piece of audio. */
export type ChunkId = string | number;

/** Whose audio it is. */
export type Side = "callee" | "application";

/** What is sent over a socket. */
export type SocketData = string | Uint8Array<ArrayBuffer>;

/** How far the callee has heard what was queued. */
export interface Progress {
  /** How much of all was played or dropped. */
  readonly samples: number;
  /** Counts the beginnings, the ends, the cuts and the delays of all that was queued. */
  readonly changes: number;
}

/** The audio of an application that is queued for the callee. All numbers are in samples. */
export interface Output {
  readonly sampleRate: number;
  /**
   * Queues audio after all that is queued.
   *
   * @returns whether there is room for it
   */
  readonly enqueue: (samples: Int16Array, chunk_id: ChunkId | undefined, now: number) => boolean;
  /** Drops all that is queued, and returns how much that was. */
  readonly clear: (now: number) => number;
  /** Drops the audio of a chunk id, and returns how much that was. */
  readonly interrupt: (chunk_id: ChunkId, now: number) => number;
  /** How much was queued in all. */
  readonly total: number;
  /** When so much of all was played or dropped, if nothing delays it. */
  readonly overAt: (count: number) => number;
  /** When the audio of the current message ends, if nothing delays it; `undefined` where there is none. */
  readonly nextEnd: number | undefined;
  readonly progress: (now: number) => Progress;
}

/** The effect of an application's message. */
export type Effect =
  | { readonly type: "queued" }
  | { readonly type: "clear"; readonly samples: number }
  | { readonly type: "interrupt"; readonly samples: number; readonly chunk_id: ChunkId }
  /** The service does not know this type. */
  | { readonly type: "ignored"; readonly name: string };

/** Makes a message of encoded audio; `ms` is its beginning, since the stream began. */
export type AudioMessage = (ms: number, side: Side) => SocketData;

/** The messages on one media socket, in the form of a service. */
export interface SocketCodec {
  /** The stream's id, the same in all messages. */
  readonly stream_id: string;
  /** Whose audio is sent. */
  readonly sides: readonly Side[];
  /** Samples per second. */
  readonly sampleRate: number;
  /** Milliseconds of audio in each message. */
  readonly frameDuration: number;
  /** What is sent once the socket is open. */
  readonly opening: () => readonly SocketData[];
  /** Encodes the samples of a message; the result may be sent more than once. */
  readonly encode: (samples: Int16Array) => AudioMessage;
  /** What is sent before the socket is closed. */
  readonly closing: () => readonly SocketData[];
  /**
   * Applies a message of the application.
   *
   * @param now - the current sample
   * @throws {TypeError} when the message is malformed
   */
  readonly apply: (data: unknown, output: Output, now: number) => Effect;
  /** Sends a key that the callee pressed. */
  readonly press?: (key: string) => void;
  /** Answers that are due at this sample, such as that audio was played. */
  readonly due?: (output: Output, now: number) => readonly SocketData[];
  /** The sample at which the next such answer is due. */
  readonly nextDue?: (output: Output) => number | undefined;
}

/** A message of the application after which a carrier ends the socket, as if it were lost. */
export class ProtocolViolation extends TypeError {}

/** Audio that is more than is kept of a call. */
export class UnkeptAudio extends TypeError {}

/**
 * Queues audio for the callee.
 *
 * @throws {TypeError} when more is queued than is kept of a call
 */
export const enqueue = (
  output: Output,
  samples: Int16Array,
  chunk_id: ChunkId | undefined,
  now: number,
): Effect => {
  if (output.enqueue(samples, chunk_id, now)) return { type: "queued" };
  throw new UnkeptAudio("is more speech than is kept of a call");
};

/** A media socket of one call. */
export interface MediaSocket {
  readonly step: number;
  /** The field that has the URL. */
  readonly field: string;
  readonly url: string;
  /** Headers of the handshake, where the platform can send them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The carrier's code for a socket that can't be opened. */
  readonly code?: number | undefined;
  /** Whether this part of the call is recorded. */
  readonly record: boolean;
  /** Called once the socket is open: returns the codec of the stream. */
  readonly onOpen: () => SocketCodec;
}
