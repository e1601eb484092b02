import { createApp } from "./app.ts";

// The server. A test imports this file without it.
if (import.meta.main) {
  const env = Deno.env.toObject();
  const { HOST = "127.0.0.1", PORT = "3000" } = env;
  Deno.serve({ hostname: HOST, port: Number(PORT) }, createApp(env));
}
