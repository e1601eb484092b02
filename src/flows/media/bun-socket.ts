import type { MediaEvent, MediaSocket } from "./socket.ts";

/** The part of a server's socket in Bun that is needed. */
export interface BunServerSocket {
  /** What `server.upgrade` was given as `data`. */
  readonly data: BunSocket;
  /** 1 while it is open. */
  readonly readyState: number;
  /** Sends a message. */
  send(message: string | Uint8Array<ArrayBuffer>): unknown;
  /** Closes the socket. */
  close(code?: number, reason?: string): void;
  /** Cuts the connection at once. */
  terminate?(): void;
  /** Bytes that wait for the network. */
  getBufferedAmount(): number;
}

type Listener = (event: MediaEvent) => void;

/**
 * A WebSocket for `streamSession` and `connectAgent` on `Bun.serve`, whose own sockets have no events: give a new one
 * to `server.upgrade` as `data`, and `bunWebSocket` to `Bun.serve`.
 *
 * @example Accept a call's audio in Bun
 * ```ts
 * import { BunSocket, bunWebSocket, streamSession } from "outdial/flows";
 *
 * interface Server {
 *   upgrade(request: Request, options: { data: BunSocket }): boolean;
 * }
 *
 * // Start it with Bun.serve(application).
 * const application = {
 *   websocket: bunWebSocket,
 *   fetch: (request: Request, server: Server): Response | undefined => {
 *     const socket = new BunSocket();
 *     if (!server.upgrade(request, { data: socket })) return new Response(null, { status: 426 });
 *     const session = streamSession(socket, { onAudio: ({ bytes }) => session.audio(bytes) });
 *     return undefined;
 *   },
 * };
 * console.log(Object.keys(application).join()); // websocket,fetch
 * ```
 * @see docs/agents.md
 */
export class BunSocket implements MediaSocket {
  readonly #listeners = {
    message: new Set<Listener>(),
    close: new Set<Listener>(),
    error: new Set<Listener>(),
  };
  #socket: BunServerSocket | undefined;

  /** 0 until Bun has opened it, 1 while it is open. */
  get readyState(): number {
    return this.#socket?.readyState ?? 0;
  }

  /** Bytes that wait for the network. */
  get bufferedAmount(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  /** Called by `bunWebSocket` once Bun has opened the socket. */
  open(socket: BunServerSocket): void {
    this.#socket = socket;
  }

  /** Sends a message: text or bytes. */
  send(message: string | Uint8Array<ArrayBuffer>): void {
    this.#socket?.send(message);
  }

  /** Closes the socket. */
  close(code?: number, reason?: string): void {
    this.#socket?.close(code, reason);
  }

  /** Cuts the connection at once. */
  terminate(): void {
    this.#socket?.terminate?.();
  }

  /** Adds a listener. */
  addEventListener(
    type: "message" | "close" | "error",
    listener: (event: MediaEvent) => void,
  ): void {
    this.#listeners[type].add(listener);
  }

  /** Removes a listener. */
  removeEventListener(
    type: "message" | "close" | "error",
    listener: (event: MediaEvent) => void,
  ): void {
    this.#listeners[type].delete(listener);
  }

  /** Called by `bunWebSocket` with what Bun reports. */
  emit(type: "message" | "close", event: Omit<MediaEvent, "type">): void {
    for (const listener of [...this.#listeners[type]]) listener({ type, ...event });
  }
}

/** The `websocket` option of `Bun.serve`, for sockets whose `data` is a `BunSocket`. */
export const bunWebSocket: {
  /** Bun has opened a socket. */
  readonly open: (socket: BunServerSocket) => void;
  /** A message has come. */
  readonly message: (socket: BunServerSocket, data: unknown) => void;
  /** The socket is closed. */
  readonly close: (socket: BunServerSocket, code: number, reason: string) => void;
} = {
  open: (socket) => socket.data.open(socket),
  message: (socket, data) => socket.data.emit("message", { data }),
  close: (socket, code, reason) => socket.data.emit("close", { code, reason }),
};
