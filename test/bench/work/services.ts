// The two services that are called, each in a process of its own that prints where it is.
import { createServer } from "node:http";
import process from "node:process";
import { serve } from "@hono/node-server";
import { createEmulator } from "outdial/emulator";
import { answerTo } from "../clients.ts";

/** A server that is as fast as it can be: reads the request to its end, and accepts the call. */
const accept = (): void => {
  const server = createServer((request, response) => {
    const { status, body } = answerTo(request.url ?? "");
    const head = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    request.on("end", () => response.writeHead(status, head).end(body)).resume();
  });
  // A connection that is closed while another client is measured would count as that client's slowness.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address && typeof address === "object") console.log(`http://127.0.0.1:${address.port}`);
  });
};

/** The emulator with an instant clock; whoever answers is hung up on. */
const emulate = (): void => {
  const emulator = createEmulator({
    clock: "instant",
    host: "127.0.0.1",
    fetch: (request, init) =>
      request.url.includes("/flow") ? Response.json({ action: "hangup" }) : fetch(request, init),
  });
  const answer = (request: Request): Promise<Response> => emulator.fetch(request);
  serve({ fetch: answer, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
    console.log(JSON.stringify({ baseUrl: `http://127.0.0.1:${port}`, apiKey: emulator.apiKey }));
  });
};

// The launcher holds the other end of stdin: the process ends with it.
process.stdin.on("end", () => process.exit()).resume();
if (process.argv[2] === "emulator") emulate();
else accept();
