import type { MediaClear, MediaInterrupt, MediaOther, MediaStart } from "./messages.ts";
import type { PlaybackLine } from "./playback.ts";
import type { StartChecks } from "./signed-start.ts";
import type { MediaMessage, MediaSocket, StreamHandlers } from "./socket.ts";

/** What a carrier's message on a media socket means. Audio is 16-bit PCM at the stream's rate. */
export type MediaInput =
  | {
      readonly type: "start";
      readonly start: MediaStart;
      /** The query that `signUrl` added to the `ws_url`, where the carrier drops queries and sends it apart. */
      readonly token?: string | undefined;
    }
  | { readonly type: "audio"; readonly bytes: Uint8Array<ArrayBuffer> }
  /** All audio before this mark was played, or cleared. */
  | { readonly type: "played"; readonly mark: string }
  /** The callee has pressed a key: 0 to 9, A to D, `*` or `#`. */
  | { readonly type: "key"; readonly key: string }
  /** The stream is over; the socket may stay open. */
  | { readonly type: "stop" }
  | { readonly type: "other"; readonly message: MediaOther };

/** The messages on one media socket, in the carrier's form. Its functions return the messages to send, in order. */
export interface MediaCodec {
  /** Bytes of PCM in a byte that the socket sends: 0.75 for PCM in base64. */
  readonly pcmPerByte: number;
  /**
   * Parses a message: text, or an `ArrayBuffer` (from some sockets a `Uint8Array`).
   *
   * @throws {FrameException} for a message that breaks the protocol
   */
  readonly decode: (data: unknown) => MediaInput;
  /**
   * Audio in whole frames; the codec keeps what is less. Called only after `start` was decoded.
   *
   * @param pcm - whole samples
   * @param id - unique in the stream
   */
  readonly audio: (pcm: Uint8Array, id: string) => readonly MediaMessage[];
  /**
   * What it kept, padded to a frame; absent where a message of audio may have any length. Called when no more audio
   * has come by the time that the carrier has played what was sent.
   */
  readonly flush?: () => readonly MediaMessage[];
  /** Drops what the carrier has queued, and what the codec kept. */
  readonly clear: () => readonly MediaMessage[];
  /** Stops the audio with this id; absent where a carrier can only clear. */
  readonly interrupt?: (id: string) => readonly MediaMessage[];
  /** Requests an acknowledgement once all audio so far was played; absent where a carrier sends none. */
  readonly mark?: (name: string) => readonly MediaMessage[];
}

/** How a session reads and writes its messages, whatever the service. */
export interface StreamForm extends StartChecks {
  /**
   * The most audio in one message, in whole milliseconds from 20 to 10 000: services recommend 500 or more.
   *
   * @defaultValue 500
   */
  readonly chunkSize?: number | undefined;
  /**
   * Where a message has its audio: at its top (`MediaSpeech`), or in `data` (`NestedMediaSpeech`). A `service` has a
   * form of its own.
   *
   * @defaultValue `"flat"`
   */
  readonly form?: "flat" | "nested" | undefined;
}

/** How a carrier sends the audio of a call: made of its codec by `carrierMedia`. */
export interface CarrierMedia {
  /**
   * Opens a stream on a socket.
   *
   * @param onOver - called once, when the stream has ended, before `onClose`
   * @throws {BadParametersException} when an option breaks its rule
   */
  readonly openStream: (
    socket: MediaSocket,
    handlers: StreamHandlers,
    options: StreamForm,
    onOver: (isUnverified?: boolean) => void,
  ) => MediaStream;
  /** The options that only this carrier has, each with its test and the rule as the end of a sentence. */
  readonly optionRules: Readonly<
    Record<string, readonly [isKept: (value: unknown) => boolean, rule: string]>
  >;
}

/** The service's messages on one socket. */
export interface MediaStream extends PlaybackLine {
  /** Sends another message; returns whether it could be sent. */
  readonly send: (message: MediaInterrupt | MediaClear) => boolean;
  /** Ends the stream and calls `onClose` at once. */
  readonly close: (code?: number, reason?: string) => void;
  /** Passes an error to `onError`. */
  readonly report: (error: unknown) => void;
  /** Whether it has ended. */
  readonly isOver: () => boolean;
  /** Whether audio must wait. */
  readonly isFull: () => boolean;
  /** Samples per second; 8000 until the stream has started. */
  readonly sampleRate: () => number;
}
