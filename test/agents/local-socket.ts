import type { MediaEvent } from "../../src/flows/media/socket.ts";

type Listener = (event: MediaEvent) => void;

/** A socket whose other end is a function of the test. */
export class LocalSocket {
  readyState = 1;
  bufferedAmount = 0;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #receive: (message: string) => void;

  constructor(receive: (message: string) => void) {
    this.#receive = receive;
  }

  send(message: string | Uint8Array): void {
    if (this.readyState === 1) this.#receive(String(message));
  }

  close(code = 1000): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#emit({ type: "close", code });
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener);
  }

  /** The other end sends a message. */
  deliver(message: object): void {
    if (this.readyState === 1) this.#emit({ type: "message", data: JSON.stringify(message) });
  }

  #emit(event: MediaEvent): void {
    for (const listener of [...(this.#listeners.get(event.type) ?? [])]) listener(event);
  }
}
