import type { MediaSocket } from "./socket.ts";
import type { Wire } from "./wire.ts";

/** What may wait for the network before a speech waits, in bytes. */
const enough = 65_536;

/** What may wait here, in bytes and in speeches, before no more is taken: a service that doesn't read. */
const most = 2 ** 22;
const mostSpeeches = 10_000;

/** A WebSocket has no event for a buffer that has emptied: this is how often it is looked at, in ms. */
const interval = 20;

/** How much later than it was sent and is long a message may still be heard, in ms. */
const grace = 30_000;

type Name = string | number;

interface Speech {
  readonly name: Name | undefined;
  /** Bytes that didn't go out yet. */
  left: number;
  cut: boolean;
}

/** A message at the service. */
interface Sent {
  readonly name: Name;
  readonly chunk_id: string;
  /** When nobody can hear it any more, in ms. */
  readonly over: number;
}

/** Says one thing after the other over a socket, and no faster than the network takes it. */
export class Speaker {
  readonly #socket: MediaSocket;
  readonly #wire: Wire;
  readonly #chunkSize: number;
  readonly #speeches = new Set<Speech>();
  #waiting = 0;
  #sent: Sent[] = [];
  /** When all that was sent has been played, if nothing held it up, in ms. */
  #played = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #wake = (): void => {};

  /** @param chunkSize - milliseconds of a message */
  constructor(socket: MediaSocket, wire: Wire, chunkSize: number) {
    this.#socket = socket;
    this.#wire = wire;
    this.#chunkSize = chunkSize;
  }

  /** Bytes that wait here. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Says something after what waits already; whether all of it went out. */
  say(bytes: Uint8Array, name: Name | undefined): Promise<boolean> {
    if (this.#speeches.size >= mostSpeeches || this.#waiting >= most) return Promise.resolve(false);
    const speech: Speech = { name, left: bytes.length, cut: false };
    this.#speeches.add(speech);
    this.#waiting += bytes.length;
    const said = this.#turn
      .then(() => this.#speak(speech, bytes))
      .finally(() => {
        this.#speeches.delete(speech);
        this.#waiting -= speech.left;
      });
    this.#turn = said;
    return said;
  }

  /** Stops what has this name, or everything; the messages of it that the service may have yet. */
  stop(...names: readonly Name[]): readonly string[] {
    const isMeant = (name: Name | undefined) =>
      !names.length || names.some((each) => each === name);
    for (const speech of this.#speeches) if (isMeant(speech.name)) speech.cut = true;
    this.#wake();
    const meant = this.#sent.filter(({ name, over }) => isMeant(name) && over > Date.now());
    this.#sent = this.#sent.filter((each) => !meant.includes(each));
    return meant.map(({ chunk_id }) => chunk_id);
  }

  async #speak(speech: Speech, bytes: Uint8Array): Promise<boolean> {
    const bytesPerMs = (this.#wire.sampleRate * 2) / 1000;
    const size = Math.max(2, Math.floor((this.#chunkSize * bytesPerMs) / 2) * 2);
    for (let at = 0; at < bytes.length; at += size) {
      await this.#room(speech);
      if (speech.cut) return false;
      const part = bytes.subarray(at, at + size);
      const chunk_id = this.#wire.say(part);
      if (chunk_id === undefined) return false;
      speech.left -= part.length;
      this.#waiting -= part.length;
      this.#note(speech.name, chunk_id, part.length / bytesPerMs);
    }
    return true;
  }

  /** Remembers a message by its name for as long as it may be interrupted. */
  #note(name: Name | undefined, chunk_id: string, milliseconds: number): void {
    const now = Date.now();
    this.#played = Math.max(now, this.#played) + milliseconds;
    if (this.#sent[0] && this.#sent[0].over <= now) {
      this.#sent = this.#sent.filter(({ over }) => over > now);
    }
    if (name !== undefined) this.#sent.push({ name, chunk_id, over: this.#played + grace });
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
