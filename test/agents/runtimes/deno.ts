import type { MediaSocket } from "outdial/flows";
import { answer, talk } from "./line.ts";

declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen: (at: { port: number }) => void },
    handler: (request: Request) => Response,
  ): { shutdown(): Promise<void> };
  upgradeWebSocket(
    request: Request,
    options: { idleTimeout: number },
  ): { socket: MediaSocket; response: Response };
};

const onListen = ({ port }: { port: number }) => console.log(port);
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, (request) => {
  if (request.url.endsWith("/stop")) server.shutdown();
  if (!request.headers.has("upgrade")) return answer();
  // After a connection is lost, Deno's own timer of pings goes on for half of this.
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 10 });
  talk(socket, request.url);
  return response;
});
