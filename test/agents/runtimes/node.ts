import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { MediaSocket } from "outdial/flows";
import { WebSocketServer } from "ws";
import { answer, talk } from "./line.ts";

const server = createServer(
  getRequestListener(({ url }) => {
    if (url.endsWith("/stop")) setImmediate(() => server.close().closeIdleConnections());
    return answer();
  }),
);
new WebSocketServer({ server }).on("connection", (socket, { url = "" }) => {
  socket.on("error", () => {});
  talk(socket as unknown as MediaSocket, `http://line${url}`);
});
server.listen(0, "127.0.0.1", () => console.log(Object(server.address()).port));
