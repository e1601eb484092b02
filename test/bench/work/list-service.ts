import process from "node:process";
import { serve } from "@hono/node-server";
import { createEmulator } from "outdial/emulator";

/** The emulator on a port, as the service of a list: an instant clock; who answers is hung up on. */
const emulator = createEmulator({
  clock: "instant",
  host: "127.0.0.1",
  fetch: (request, init) =>
    request.url.includes("/flow") ? Response.json({ action: "hangup" }) : fetch(request, init),
});

// The launcher holds the other end of stdin: when it goes, this goes.
process.stdin.on("end", () => process.exit()).resume();
const answer = (request: Request): Promise<Response> => emulator.fetch(request);
serve({ fetch: answer, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  console.log(JSON.stringify({ baseUrl: `http://127.0.0.1:${port}`, apiKey: emulator.apiKey }));
});
