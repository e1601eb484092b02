/** What a session reads of an event of a WebSocket. */
export interface MediaEvent {
  /** Which event. */
  readonly type: string;
  /** What a message holds. */
  readonly data?: unknown;
  /** Why a socket was closed, as a number. */
  readonly code?: number;
  /** Why a socket was closed, in words. */
  readonly reason?: string;
}

/** What a session needs of a WebSocket: every standard one has it, and `ws` on Node. */
export interface MediaSocket {
  /** 0 while it connects, 1 while it is open. */
  readonly readyState: number;
  /** Bytes that wait for the network. Workers don't have it: there nothing can be seen to wait. */
  readonly bufferedAmount?: number;
  /** Sends a text frame. */
  send(message: string): void;
  /** Closes the socket. */
  close(code?: number, reason?: string): void;
  /** Listens, as on any `EventTarget`. */
  addEventListener(
    type: "message" | "close" | "error",
    listener: (event: MediaEvent) => void,
  ): void;
  /** Listens no longer. */
  removeEventListener(
    type: "message" | "close" | "error",
    listener: (event: MediaEvent) => void,
  ): void;
}
