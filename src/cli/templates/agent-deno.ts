import { createApp } from "./app.ts";

// The server. A test imports this file without it.
if (import.meta.main) {
  const env = Deno.env.toObject();
  const { HOST = "127.0.0.1", PORT = "3000" } = env;
  const app = createApp(env);
  Deno.serve({ hostname: HOST, port: Number(PORT) }, async (request) => {
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return app.fetch(request);
    const accepted = await app.accept(request.url);
    if (!accepted) return new Response(null, { status: 401 });
    const { socket, response } = Deno.upgradeWebSocket(request);
    app.connect(socket, accepted);
    return response;
  });
}
