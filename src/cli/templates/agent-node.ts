import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { WebSocketServer } from "ws";
import { createApp } from "./app.ts";

// The server. A test imports this file without it.
if (import.meta.main) {
  const { HOST = "127.0.0.1", PORT = "3000" } = process.env;
  const app = createApp(process.env);
  const server = createServer(getRequestListener(app.fetch));
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", async (request, stream, head) => {
    stream.on("error", () => stream.destroy());
    const accepted = await app.accept(request.url ?? "");
    if (!accepted) {
      stream.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => app.connect(socket, accepted));
  });
  // Clients and proxies close idle connections. If Node did, it could close one on which a request has arrived.
  server.keepAliveTimeout = 620_000;
  server.listen(Number(PORT), HOST, () => {
    console.log(`http://${HOST}:${Object(server.address()).port}`);
  });
}
