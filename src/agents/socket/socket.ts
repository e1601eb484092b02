import type { MediaEvent } from "../../flows/media/socket.ts";

/** What is needed of an agent's socket: every standard WebSocket has it. */
export interface AgentSocket {
  /** 0 while it connects, 1 while it is open. */
  readonly readyState: number;
  /** Bytes that wait for the network. Workers don't have it. */
  readonly bufferedAmount?: number;
  /** Set to `"arraybuffer"`: where it isn't, binary messages are blobs. */
  binaryType?: string;
  /** Sends a frame, as text or as bytes. */
  send(message: string | Uint8Array<ArrayBuffer>): void;
  /** Closes the socket. */
  close(code?: number, reason?: string): void;
  /** Listens, as on any `EventTarget`. */
  addEventListener(type: AgentSocketEvent, listener: (event: MediaEvent) => void): void;
  /** Listens no longer. */
  removeEventListener(type: AgentSocketEvent, listener: (event: MediaEvent) => void): void;
}

/** What a socket tells. */
export type AgentSocketEvent = "open" | "message" | "close" | "error";

/** How a socket is to be opened. */
export interface Opening {
  /** wss, or ws on loopback. */
  readonly url: string;
  /** The agent's key may be in them: log neither. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The subprotocols; one of them may be a key. */
  readonly protocols?: readonly string[] | undefined;
  /** Aborts when nobody waits for the socket any more. */
  readonly signal: AbortSignal;
}

/** Opens a socket; it may still be connecting when it is given. It must not follow redirects. */
export type OpenSocket = (opening: Opening) => AgentSocket | Promise<AgentSocket>;
