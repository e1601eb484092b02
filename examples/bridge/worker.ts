// Cloudflare Workers: `npx wrangler deploy`. See README.md.
import { type Bridge, createBridge, type Upgrade } from "./bridge.ts";
import { configOf } from "./config.ts";

/** One for all requests of an isolate: it remembers the calls. */
let bridge: Bridge | undefined;

const upgrade: Upgrade = () => {
  const { 0: client, 1: socket } = new WebSocketPair();
  socket.accept();
  return { socket, response: new Response(null, { status: 101, webSocket: client }) };
};

export default {
  fetch(request: Request, env: Readonly<Record<string, string | undefined>>): Promise<Response> {
    bridge ??= createBridge(configOf((name) => env[name]));
    return bridge(request, upgrade);
  },
};
