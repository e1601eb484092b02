import { createServer, type Server } from "node:http";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { verifyUrl } from "outdial/callbacks";
import { type WebSocket, WebSocketServer } from "ws";

/** A voice agent of its own on this machine. */
export interface AgentServer {
  readonly url: string;
  /** What the bridge sent in text. */
  readonly started: readonly unknown[];
  /** What the person said, so far. */
  readonly heard: () => Int16Array;
  readonly sockets: ReadonlySet<WebSocket>;
  /** The close code of each socket that has gone. */
  readonly closed: readonly number[];
  /** TCP connections that are still there. */
  readonly connections: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export const agentSecret = "a-secret-of-bridge-and-agent-for-these-tests";

const listening = async (server: Server | TcpServer): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

/** Lets go of everyone, also where a test has failed and nobody else does. */
const closing = (server: Server | TcpServer): (() => Promise<void>) => {
  const streams = new Set<Socket>();
  server.on("connection", (stream: Socket) => streams.add(stream));
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const stream of streams) stream.destroy();
    });
};

const connectionsOf = (server: Server | TcpServer): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

/**
 * @param openAfter - milliseconds until it lets a socket in
 * @param onOpen - what it does then
 */
export const startAgent = async (
  openAfter = 0,
  onOpen: (socket: WebSocket) => void = () => {},
): Promise<AgentServer> => {
  const started: unknown[] = [];
  const pieces: Buffer[] = [];
  const closed: number[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  sockets.on("connection", (socket) => {
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) pieces.push(data);
      else started.push(JSON.parse(data.toString()));
    });
    socket.on("close", (code) => closed.push(code));
    onOpen(socket);
  });
  const server = createServer().on("upgrade", async (request, stream, head) => {
    try {
      await verifyUrl(request.url ?? "", { secret: agentSecret });
    } catch {
      stream.destroy();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, openAfter));
    sockets.handleUpgrade(request, stream, head, (socket) => sockets.emit("connection", socket));
  });
  const close = closing(server);
  const port = await listening(server);
  return {
    url: `ws://127.0.0.1:${port}/agent`,
    started,
    heard: () => new Int16Array(new Uint8Array(Buffer.concat(pieces)).buffer),
    sockets: sockets.clients,
    closed,
    connections: () => connectionsOf(server),
    close,
  };
};

/** Something that takes every connection, and never says a word. */
export const startSilence = async (): Promise<
  Pick<AgentServer, "url" | "connections" | "close"> & { readonly taken: () => number }
> => {
  let taken = 0;
  const server = createTcpServer((stream) => {
    taken++;
    stream.on("error", () => {}).resume();
  });
  const close = closing(server);
  const port = await listening(server);
  return {
    url: `ws://127.0.0.1:${port}/agent`,
    taken: () => taken,
    connections: () => connectionsOf(server),
    close,
  };
};
