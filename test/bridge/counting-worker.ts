import worker from "../../examples/bridge/worker.ts";

// The Worker as it is, with its WebSockets counted: those that it has accepted, and those to agents.

let open = 0;

const count = (socket: WebSocket): void => {
  let isOpen = true;
  const gone = () => {
    if (isOpen) open--;
    isOpen = false;
  };
  open++;
  socket.addEventListener("close", gone);
  socket.addEventListener("error", gone);
};

Object.assign(globalThis, {
  WebSocketPair: new Proxy(WebSocketPair, {
    construct(target) {
      const pair = new target();
      count(pair[1]);
      return pair;
    },
  }),
  WebSocket: new Proxy(WebSocket, {
    construct(target, [url]) {
      const socket = new target(url);
      count(socket);
      return socket;
    },
  }),
});

export default {
  fetch(request: Request, env: Parameters<typeof worker.fetch>[1]): Response | Promise<Response> {
    return new URL(request.url).pathname === "/open-sockets"
      ? Response.json(open)
      : worker.fetch(request, env);
  },
};
