import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { type WebSocket, WebSocketServer } from "ws";
import { createBridge } from "../../examples/bridge/bridge.ts";
import { configOf } from "../../examples/bridge/config.ts";

// The bridge on Node, whose own server knows neither Request nor WebSocket.
const bridge = createBridge(configOf((name) => process.env[name]));
const refuse = () => {
  throw new TypeError("This request is no upgrade");
};
const sockets = new WebSocketServer({ noServer: true });

createServer(getRequestListener((request) => bridge(request, refuse)))
  .on("upgrade", async (incoming, stream, head) => {
    let isUpgraded = false;
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      headers: { upgrade: incoming.headers.upgrade ?? "" },
    });
    const { status } = await bridge(request, () => {
      let socket: WebSocket | undefined;
      sockets.handleUpgrade(incoming, stream, head, (open) => {
        socket = open;
      });
      if (!socket) throw new TypeError("The request can't be upgraded");
      isUpgraded = true;
      return { socket, response: new Response(null) };
    });
    if (!isUpgraded) stream.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`);
  })
  .listen(Number(process.env.PORT), "127.0.0.1");
