import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

/** What a client sent: JSON, or bytes. */
export type Received = Record<string, unknown> | Uint8Array;

/** The agent's end of a socket. */
export interface Peer {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** All that came so far. */
  readonly received: Received[];
  readonly send: (message: object | Uint8Array) => void;
}

/** An agent's server on loopback. */
export interface AgentServer {
  readonly url: string;
  readonly http: string;
  readonly peers: readonly Peer[];
  /** Requests for a socket, those that were refused too. */
  readonly upgrades: readonly IncomingMessage[];
  /** All others. */
  readonly requests: readonly IncomingMessage[];
  readonly open: () => number;
  /** Connections that are still there, a WebSocket or not. */
  readonly connections: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** How a server takes connections. */
export interface Taking {
  /** What it does with one. */
  readonly accept: (peer: Peer, message?: Received) => void;
  readonly protocol?: string;
  /** Refuses every request with this status and these headers. */
  readonly refuse?: { readonly status: number; readonly headers?: Record<string, string> };
  /** Never answers a request for a socket. */
  readonly isDeaf?: boolean;
  /** Answers a plain request. */
  readonly answer?: (request: IncomingMessage) => object | undefined;
}

export const listen = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

export const serveAgent = async (taking: Taking): Promise<AgentServer> => {
  const { accept, protocol, refuse, isDeaf, answer } = taking;
  const peers: Peer[] = [];
  const upgrades: IncomingMessage[] = [];
  const requests: IncomingMessage[] = [];
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => (protocol && offered.has(protocol) ? protocol : false),
  });
  const server = createServer((request, response) => {
    requests.push(request);
    const body = refuse ? undefined : answer?.(request);
    const { status, headers } = refuse ?? { status: body ? 200 : 401 };
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(JSON.stringify(body ?? {}));
  });
  server.on("upgrade", (request, stream, head) => {
    upgrades.push(request);
    if (isDeaf) {
      stream.on("end", () => stream.destroy()).resume();
      return;
    }
    if (refuse) {
      const headers = Object.entries(refuse.headers ?? {}).map((each) => `${each.join(": ")}\r\n`);
      stream.end(`HTTP/1.1 ${refuse.status} No\r\n${headers.join("")}Content-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const received: Received[] = [];
      const peer: Peer = {
        socket,
        request,
        received,
        send: (message) => {
          if (socket.readyState !== 1) return;
          socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
        },
      };
      peers.push(peer);
      socket.on("error", () => {});
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        const message = isBinary ? new Uint8Array(data) : JSON.parse(String(data));
        received.push(message);
        accept(peer, message);
      });
      accept(peer);
    });
  });
  const port = await listen(server);
  return {
    url: `ws://127.0.0.1:${port}/`,
    http: `http://127.0.0.1:${port}`,
    peers,
    upgrades,
    requests,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    open: () => peers.filter(({ socket }) => socket.readyState < 3).length,
    close: async () => {
      for (const { socket } of peers) socket.terminate();
      for (const { socket } of upgrades) socket.destroy();
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
