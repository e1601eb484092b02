import { base64 } from "../bytes/base64.ts";
import type { MediaSpeech } from "./media.ts";
import type { MediaSocket } from "./socket.ts";

/** A whole number of samples at either rate: 400 ms of 8 kHz. */
const frame = 6400;

/** What may wait for the network before a speech waits, in bytes. */
const enough = 65_536;

/** A WebSocket has no event for a buffer that has emptied: this is how often it is looked at, in ms. */
const interval = 20;

interface Speech {
  readonly chunk_id: string | number | undefined;
  /** Bytes that didn't go out yet. */
  left: number;
  cut: boolean;
}

/** Says one thing after the other over a socket, and no faster than the network takes it. */
export class Speaker {
  readonly #socket: MediaSocket;
  readonly #write: (message: MediaSpeech) => boolean;
  readonly #speeches = new Set<Speech>();
  #turn: Promise<unknown> = Promise.resolve();
  #wake = (): void => {};

  /** @param write - sends a message, and says whether it could */
  constructor(socket: MediaSocket, write: (message: MediaSpeech) => boolean) {
    this.#socket = socket;
    this.#write = write;
  }

  /** Bytes that wait here. */
  get waiting(): number {
    return [...this.#speeches].reduce((bytes, { left }) => bytes + left, 0);
  }

  /** Says something after what waits already; whether all of it went out. */
  say(bytes: Uint8Array, chunk_id: string | number | undefined): Promise<boolean> {
    const speech: Speech = { chunk_id, left: bytes.length, cut: false };
    this.#speeches.add(speech);
    const said = this.#turn
      .then(() => this.#speak(speech, bytes))
      .finally(() => this.#speeches.delete(speech));
    this.#turn = said;
    return said;
  }

  /** Stops what has this name, or everything. */
  stop(...names: readonly (string | number)[]): void {
    for (const speech of this.#speeches) {
      if (!names.length || names.some((name) => name === speech.chunk_id)) speech.cut = true;
    }
    this.#wake();
  }

  async #speak(speech: Speech, bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += frame) {
      await this.#room(speech);
      if (speech.cut || this.#socket.readyState > 1) return false;
      const part = bytes.subarray(at, at + frame);
      const data = { audio_b64: base64(part), chunk_id: speech.chunk_id };
      if (!this.#write({ type: "audio", data })) return false;
      speech.left -= part.length;
    }
    return true;
  }

  /** Until there is room, or reason not to wait any more; leaves no timer. */
  async #room(speech: Speech): Promise<void> {
    const isFull = ({ readyState, bufferedAmount = 0 }: MediaSocket) =>
      readyState === 0 || (readyState === 1 && bufferedAmount > enough);
    while (!speech.cut && isFull(this.#socket)) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, interval);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
