import type { AgentSocket, AgentSocketEvent } from "outdial/agents";
import type { MediaEvent, MediaSocket } from "outdial/flows";

type Listener = (event: MediaEvent) => void;

/** A socket whose other end is in this process. */
export class Socket implements MediaSocket, AgentSocket {
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

  /** A message comes. */
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
