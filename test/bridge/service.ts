import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { createEmulator, type Emulator, type EmulatorOptions } from "outdial/emulator";

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
  const end = Date.now() + 240_000;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`Not true after 240 s: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
