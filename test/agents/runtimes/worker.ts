import type { MediaSocket } from "outdial/flows";
import { answer, talk } from "./line.ts";

declare const WebSocketPair: new () => Readonly<Record<0 | 1, MediaSocket & { accept(): void }>>;

/** The application as a Worker. */
export default {
  fetch(request: Request): Response {
    if (!request.headers.has("upgrade")) return answer();
    const { 0: webSocket, 1: socket } = new WebSocketPair();
    socket.accept();
    talk(socket, request.url);
    return new Response(null, Object.assign({ status: 101 }, { webSocket }));
  },
};
