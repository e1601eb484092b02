import type { MediaEvent, MediaSocket } from "outdial/flows";

type Listener = (event: MediaEvent) => void;

/** The application's end of a carrier's socket, played by the test. */
export class Socket implements MediaSocket {
  readyState = 1;
  bufferedAmount = 0;
  binaryType = "blob";
  readonly sent: unknown[] = [];
  readonly closes: unknown[][] = [];
  readonly #listeners = new Map<string, Set<Listener>>();

  send(message: unknown): void {
    this.sent.push(message);
  }

  close(...how: [code?: number, reason?: string]): void {
    this.closes.push(how);
    this.readyState = 2;
  }

  addEventListener(type: string, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener);
  }

  /** How many listeners are left on it. */
  get listeners(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** A message of the carrier's: bytes, or JSON. */
  receive(message: object): void {
    const data = message instanceof ArrayBuffer ? message : JSON.stringify(message);
    this.emit("message", { data });
  }

  emit(type: string, event: Omit<MediaEvent, "type"> = {}): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener({ type, ...event });
  }
}
