import type { MediaEvent, MediaSocket } from "outdial/flows";

/** As much of Bun's own socket as is needed. */
export interface ServerSocket {
  readonly data: BunSocket;
  readonly readyState: number;
  send(message: string): unknown;
  close(code?: number, reason?: string): void;
  getBufferedAmount(): number;
}

type Listener = (event: MediaEvent) => void;

/** Bun tells the server of messages, not the socket: this makes a standard WebSocket of the two. */
export class BunSocket implements MediaSocket {
  readonly #listeners = {
    message: new Set<Listener>(),
    close: new Set<Listener>(),
    error: new Set<Listener>(),
  };
  #socket: ServerSocket | undefined;

  get readyState(): number {
    return this.#socket?.readyState ?? 0;
  }

  get bufferedAmount(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  open(socket: ServerSocket): void {
    this.#socket = socket;
  }

  send(message: string): void {
    this.#socket?.send(message);
  }

  close(code?: number, reason?: string): void {
    this.#socket?.close(code, reason);
  }

  addEventListener(type: "message" | "close" | "error", listener: Listener): void {
    this.#listeners[type].add(listener);
  }

  removeEventListener(type: "message" | "close" | "error", listener: Listener): void {
    this.#listeners[type].delete(listener);
  }

  happen(type: "message" | "close", event: Omit<MediaEvent, "type">): void {
    for (const listener of this.#listeners[type]) listener({ type, ...event });
  }
}

/** What `Bun.serve` is given for its sockets. */
export const websocket = {
  open: (socket: ServerSocket): void => socket.data.open(socket),
  message: (socket: ServerSocket, data: unknown): void => socket.data.happen("message", { data }),
  close: (socket: ServerSocket, code: number, reason: string): void =>
    socket.data.happen("close", { code, reason }),
};
