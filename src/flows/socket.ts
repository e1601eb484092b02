/** What a session reads of an event of a WebSocket. */
export interface MediaEvent {
  readonly type: string;
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
}

/** What a session needs of a WebSocket: every standard one has it, and `ws` on Node. */
export interface MediaSocket {
  /** 0 while it connects, 1 while it is open. */
  readonly readyState: number;
  /** Bytes that wait for the network. Workers don't have it: there nothing can be seen to wait. */
  readonly bufferedAmount?: number;
  send(message: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(
    type: "message" | "close" | "error",
    listener: (event: MediaEvent) => void,
  ): void;
  removeEventListener(
    type: "message" | "close" | "error",
    listener: (event: MediaEvent) => void,
  ): void;
}
