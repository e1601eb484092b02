// Cloudflare Workers: `npx wrangler deploy`. See README.md.
import { createBridge, type Bridge as Handle } from "./bridge.ts";
import { readConfig } from "./config.ts";

interface Env {
  readonly BRIDGE: DurableObjectNamespace;
}

/** Every request goes to one object: its storage outlives deploys, and its memory holds the sockets. */
export class Bridge {
  readonly #handle: Handle;

  constructor({ storage }: DurableObjectState, env: Env) {
    this.#handle = createBridge(readConfig({ ...env }), storage.kv);
  }

  fetch(request: Request): Promise<Response> {
    return this.#handle(request, () => {
      const { 0: client, 1: socket } = new WebSocketPair();
      socket.accept();
      return { socket, response: new Response(null, { status: 101, webSocket: client }) };
    });
  }
}

export default {
  fetch: (request: Request, { BRIDGE }: Env): Promise<Response> =>
    BRIDGE.get(BRIDGE.idFromName("bridge")).fetch(request),
};
