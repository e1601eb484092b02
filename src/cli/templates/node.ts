import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createApp } from "./app.ts";

// The server. A test imports this file without it.
if (import.meta.main) {
  const { HOST = "127.0.0.1", PORT = "3000" } = process.env;
  const server = createServer(getRequestListener(createApp(process.env)));
  // Clients and proxies close idle connections. If Node did, it could close one on which a request has arrived.
  server.keepAliveTimeout = 620_000;
  server.listen(Number(PORT), HOST, () => console.log(`http://${HOST}:${PORT}`));
}
