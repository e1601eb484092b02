// Node 22.18 or newer: `npm install ws @hono/node-server`, then `node node.ts`. See README.md.
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { type WebSocket, WebSocketServer } from "ws";
import { createBridge, type Upgrade } from "./bridge.ts";
import { readConfig } from "./config.ts";

const sockets = new WebSocketServer({ noServer: true });
const noUpgrade: Upgrade = () => {
  throw new TypeError("This request is not an upgrade");
};

const server = createServer(getRequestListener((request) => bridge(request, noUpgrade)));
server.on("upgrade", async (incoming, stream, head) => {
  stream.on("error", () => stream.destroy());
  const request = URL.canParse(incoming.url ?? "", url)
    ? new Request(new URL(incoming.url ?? "", url), { headers: { upgrade: "websocket" } })
    : new Request(url);
  let isUpgraded = false;
  const { status } = await bridge(request, () => {
    let socket: WebSocket | undefined;
    sockets.handleUpgrade(incoming, stream, head, (open) => {
      socket = open;
    });
    if (!socket) throw new TypeError("This request cannot be upgraded");
    isUpgraded = true;
    return { socket, response: new Response() };
  });
  if (!isUpgraded) stream.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`);
});
server.listen(Number(process.env.PORT ?? 8787), "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const address = server.address();
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
const bridge = createBridge(readConfig({ PUBLIC_URL: url, ...process.env }));
console.log(`The bridge listens on ${url}`);
