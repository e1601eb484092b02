// Deno: `deno run --allow-net --allow-env --env-file=.dev.vars deno.ts`. See README.md.
import { createBridge } from "./bridge.ts";
import { configOf } from "./config.ts";

const bridge = createBridge(configOf((name) => Deno.env.get(name)));
const port = Number(Deno.env.get("PORT") ?? 8787);

Deno.serve({ hostname: "127.0.0.1", port }, (request) => bridge(request, Deno.upgradeWebSocket));
