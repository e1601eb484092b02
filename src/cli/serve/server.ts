/** Answers one request. When it rejects, the connection is dropped without an answer. */
export type Handler = (request: Request) => Promise<Response>;

/** Where to listen. */
interface Address {
  readonly hostname: string;
  /** 0 for any that is free. */
  readonly port: number;
}

/** A server that listens. */
export interface Server {
  readonly port: number;
  /** Closes the port and every connection. */
  readonly stop: () => Promise<void>;
  /** Closes the port, answers what has come, and then closes every connection: within a second. */
  readonly finish: () => Promise<void>;
}

/** How long a server that finishes waits for its last answers, in milliseconds. */
export const patience = 1_000;

/**
 * Listens, in one runtime's own way.
 *
 * @throws the runtime's error when the port can't be had; its `code` says why
 */
export type Serve = (handler: Handler, address: Address) => Promise<Server>;
