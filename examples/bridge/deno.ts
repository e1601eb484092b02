// Deno: `deno run --allow-net --allow-env deno.ts`. See README.md.
import { createBridge } from "./bridge.ts";
import { readConfig } from "./config.ts";

const port = Number(Deno.env.get("PORT") ?? 8787);
const server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, (request) =>
  bridge(request, Deno.upgradeWebSocket),
);
const url = `http://127.0.0.1:${server.addr.port}`;
const bridge = createBridge(readConfig({ PUBLIC_URL: url, ...Deno.env.toObject() }));
console.log(`The bridge listens on ${url}`);
