// Bun: `bun --env-file=.dev.vars bun.ts`. See README.md.
import { createBridge } from "./bridge.ts";
import { BunSocket, websocket } from "./bun-socket.ts";
import { configOf } from "./config.ts";

const bridge = createBridge(configOf((name) => Bun.env[name]));

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(Bun.env.PORT ?? 8787),
  websocket,
  fetch: async (request, server) => {
    let isUpgraded = false;
    const response = await bridge(request, () => {
      const socket = new BunSocket();
      isUpgraded = server.upgrade(request, { data: socket });
      if (!isUpgraded) throw new TypeError("The request can't be upgraded");
      return { socket, response: new Response(null) };
    });
    return isUpgraded ? undefined : response; // Bun has answered an upgrade itself.
  },
});
