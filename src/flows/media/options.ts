import { refuse } from "../../rules/refuse.ts";
import type { MediaOther, MediaStart } from "./service.ts";

/** A piece of what the person on the line says. */
export interface Heard {
  /** 16-bit samples, as the service wrote them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Milliseconds from the start of the stream to its first sample, by the audio that came. */
  readonly time: number;
}

/** How a session ended. */
export interface Closed {
  /** The WebSocket's close code; 1006 when the connection was lost. */
  readonly code: number;
  /** Why, in words; empty when there are none. */
  readonly reason: string;
}

/** What to do about a media stream. What these throw is told to `onError`; the call goes on. */
export interface StreamHandlers {
  /** Hears which call it is, and how its audio is written. */
  readonly onStart?: ((start: MediaStart) => unknown) | undefined;
  /** Hears what the person says, in order. A promise of it isn't waited for. */
  readonly onAudio?: ((heard: Heard) => unknown) | undefined;
  /** Hears what the service sends beside those two, as it came. */
  readonly onMessage?: ((message: MediaOther) => unknown) | undefined;
  /** Hears once that the stream has ended, from either side. */
  readonly onClose?: ((closed: Closed) => unknown) | undefined;
  /** Hears of malformed messages (`FrameException`) and of what the other handlers throw. */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** How a session writes what is said. */
export interface StreamOptions {
  /**
   * The most audio in one message, in whole milliseconds, 20 to 10 000: services ask for 500 or more.
   *
   * @defaultValue 500
   */
  readonly chunk_size?: number | undefined;
  /**
   * Where a message has its audio: at its top (`MediaSpeech`), or in `data` (`NestedMediaSpeech`).
   *
   * @defaultValue `"flat"`
   */
  readonly form?: "flat" | "nested" | undefined;
}

/** What a message may be long, in ms. */
const least = 20;
const longest = 10_000;

/**
 * Milliseconds of a message.
 *
 * @throws {BadParametersException} (`placed: "no"`) when that is none
 */
export const chunkSizeOf = ({ chunk_size = 500 }: StreamOptions): number =>
  Number.isInteger(chunk_size) && chunk_size >= least && chunk_size <= longest
    ? chunk_size
    : refuse("chunk_size", `must be a whole number of ms from ${least} to ${longest}`);
