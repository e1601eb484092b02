// Bun: `bun bun.ts`. See README.md.
import { BunSocket, bunWebSocket } from "outdial/flows";
import { createBridge } from "./bridge.ts";
import { readConfig } from "./config.ts";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(Bun.env.PORT ?? 8787),
  websocket: bunWebSocket,
  fetch: async (request, server) => {
    let isUpgraded = false;
    const response = await bridge(request, () => {
      const socket = new BunSocket();
      isUpgraded = server.upgrade(request, { data: socket });
      if (!isUpgraded) throw new TypeError("This request cannot be upgraded");
      return { socket, response: new Response(null) };
    });
    return isUpgraded ? undefined : response; // Bun has answered an upgrade itself.
  },
});
const url = `http://127.0.0.1:${server.port}`;
const bridge = createBridge(readConfig({ PUBLIC_URL: url, ...Bun.env }));
console.log(`The bridge listens on ${url}`);
