import { createServer } from "node:http";
import process from "node:process";
import { answer } from "../answer.ts";

/** The service, as fast as it can be: reads the request to its end, and accepts the call. */
const head = { "content-type": "application/json", "content-length": Buffer.byteLength(answer) };
const server = createServer((request, response) => {
  request.on("end", () => response.writeHead(202, head).end(answer)).resume();
});
// A connection that is closed while another client has its turn would count as that client's slowness.
server.keepAliveTimeout = 0;

// The launcher holds the other end of stdin: when it goes, this goes.
process.stdin.on("end", () => process.exit()).resume();
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address && typeof address === "object") console.log(`http://127.0.0.1:${address.port}`);
});
