import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { createEmulator, type Emulator, type EmulatorOptions } from "outdial/emulator";

/** Milliseconds that only a hang reaches. */
const patience = 240_000;

/** A media socket of the service, and how it was closed. */
export class ServiceSocket extends WebSocket {
  closed: { readonly code: number; readonly reason: string } | undefined;

  constructor(url: string) {
    super(url);
    this.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
    });
  }
}

/** The emulator on a port of this machine, and its media sockets. */
export interface Service {
  readonly emulator: Emulator;
  readonly baseUrl: string;
  readonly sockets: readonly ServiceSocket[];
  /** How many of them are not closed yet. */
  readonly open: () => number;
  readonly close: () => Promise<void>;
}

/**
 * Each on a connection of its own. Runtimes close an idle connection after some seconds, and on a busy machine a request
 * may just have been written to it: nobody sends a flow's request again, and the call ends with a flow error.
 */
const sendAlone = (request: Request, init: { readonly signal: AbortSignal }): Promise<Response> => {
  request.headers.set("Connection", "close");
  return fetch(request, init);
};

export const startService = async (options: EmulatorOptions = {}): Promise<Service> => {
  const sockets: ServiceSocket[] = [];
  class CountedSocket extends ServiceSocket {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }
  }
  const emulator = createEmulator({
    speed: 5,
    ringDuration: 200,
    WebSocket: CountedSocket,
    fetch: sendAlone,
    // Real time, whatever the speed: a hundred calls at once may keep a busy machine for longer than the usual 10 s.
    responseTimeout: patience,
    ...options,
  });
  const server = serve({
    fetch: (request) => emulator.fetch(request),
    port: 0,
    hostname: "127.0.0.1",
    // A client closes an idle connection, never this server: where its process stalls, it would close one on
    // which a request has arrived, and a POST that is lost so may have placed a call.
    serverOptions: { keepAliveTimeout: 0 },
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    emulator,
    baseUrl: `http://127.0.0.1:${port}`,
    sockets,
    // Not by readyState: Node's stays at CLOSING when the other end has dropped the connection.
    open: () => sockets.filter(({ closed }) => !closed).length,
    close: async () => {
      emulator.reset(); // Nobody is left to receive the notifications of unfinished calls.
      await emulator.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** Waits for a condition. Only a hang reaches the end. */
export const until = async (condition: string, isTrue: () => unknown): Promise<void> => {
  const end = Date.now() + patience;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`Not true after 240 s: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
