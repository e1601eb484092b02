// Cloudflare Workers: `npx wrangler deploy`. See README.md.
import { type Bridge, createBridge } from "./bridge.ts";
import { configOf } from "./config.ts";
import { type Env, linesIn, type Objects, objectClass, stateIn } from "./durable.ts";
import type { Upgrade } from "./lines.ts";

/** One for all requests of an isolate. */
let bridge: Bridge | undefined;

const upgrade: Upgrade = () => {
  const { 0: client, 1: socket } = new WebSocketPair();
  socket.accept();
  return { socket, response: new Response(null, { status: 101, webSocket: client }) };
};

/** One call, with its talk, or one caller. */
export class BridgeObject extends objectClass(upgrade) {}

const isObjects = (value: unknown): value is Objects =>
  typeof Object(value).idFromName === "function";

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    const config = () => configOf((name) => env[name] as string | undefined);
    const { OBJECTS: objects } = env;
    // Without the objects, for a try: an isolate remembers its own calls.
    bridge ??= isObjects(objects)
      ? createBridge(config(), { state: stateIn(objects), lines: linesIn(objects) })
      : createBridge(config());
    return bridge(request, upgrade);
  },
};
