import { BunSocket, bunWebSocket } from "outdial/flows";
import { answer, talk } from "./line.ts";

declare const Bun: {
  serve(options: object): {
    readonly port: number;
    stop(): void;
    upgrade(request: Request, options: { data: BunSocket }): boolean;
  };
};

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  websocket: bunWebSocket,
  fetch: (request: Request) => {
    if (request.url.endsWith("/stop")) server.stop();
    if (!request.headers.has("upgrade")) return answer();
    const socket = new BunSocket();
    if (server.upgrade(request, { data: socket })) talk(socket, request.url);
    return undefined;
  },
});
console.log(server.port);
