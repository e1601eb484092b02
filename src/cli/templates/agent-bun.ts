import { BunSocket, bunWebSocket } from "outdial/flows";
import { createApp } from "./app.ts";

// The server. A test imports this file without it.
if (import.meta.main) {
  const { HOST = "127.0.0.1", PORT = "3000" } = process.env;
  const app = createApp(process.env);
  const server = Bun.serve({
    hostname: HOST,
    port: PORT,
    websocket: bunWebSocket,
    fetch: async (request, server) => {
      if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return app.fetch(request);
      const accepted = await app.accept(request.url);
      if (!accepted) return new Response(null, { status: 401 });
      const socket = new BunSocket();
      if (!server.upgrade(request, { data: socket })) return new Response(null, { status: 400 });
      app.connect(socket, accepted);
      return undefined; // Bun has answered an upgrade itself.
    },
  });
  console.log(server.url.origin);
}
