import { createApp } from "./app.ts";

// The server. A test imports this file without it.
if (import.meta.main) {
  const { HOST = "127.0.0.1", PORT = "3000" } = process.env;
  const server = Bun.serve({ hostname: HOST, port: PORT, fetch: createApp(process.env) });
  console.log(server.url.origin);
}
