import type { ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import { nobodysPort } from "../../nobody.ts";
import { identityIn } from "../certificates.ts";
import { type Behaviour, good, type Protocol } from "../fault.ts";
import { listenDeaf } from "./deaf.ts";
import { serveHttp1 } from "./http1.ts";
import { http2Server } from "./http2.ts";
import { nothingSeen, type Seen } from "./seen.ts";

/** A server for one call, on a port of its own, so that everything there belongs to that call. */
export interface Cell {
  readonly baseUrl: string;
  readonly seen: Seen;
  /**
   * Ends it once the client holds no more than some connections, or does not let go of them.
   *
   * @param expected - how many the client may hold
   */
  readonly close: (expected: number) => Promise<Seen>;
}

/** How long a client on a busy machine may take to let go of what is over, in milliseconds. */
const patience = 30_000;

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );

/** Where a redirect leads: it answers as a good service would, and counts. */
const elsewhereFor = async (seen: Seen) => {
  const server = createServer((socket) => {
    const before = seen.posts;
    serveHttp1(socket, good, seen, "", () => {
      seen.posts = before;
      seen.elsewhere++;
    });
  });
  return { server, origin: `http://localhost:${await listen(server)}` };
};

export const openCell = async (
  behaviour: Behaviour,
  protocol: Protocol,
  folder: string,
): Promise<Cell> => {
  const seen = nothingSeen();
  const { listens } = behaviour;
  const scheme = protocol === "h1" ? "http" : "https";
  const at = (port: number) => `${scheme}://127.0.0.1:${port}`;
  if (listens === "nowhere") {
    return { baseUrl: at(await nobodysPort()), seen, close: async () => seen };
  }
  if (listens === "deaf") {
    const { port, close } = await listenDeaf();
    seen.acted = true;
    return {
      baseUrl: at(port),
      seen,
      close: async () => {
        close();
        return seen;
      },
    };
  }

  const sockets = new Set<Socket>();
  const held = new Set<Socket | ServerHttp2Stream>();
  const hold = (each: Socket | ServerHttp2Stream) => {
    held.add(each);
    const release = () => void held.delete(each);
    each.on("close", release);
    return release;
  };
  const elsewhere = await elsewhereFor(seen);
  const speak = (socket: Socket) =>
    serveHttp1(socket, behaviour, seen, elsewhere.origin, () => hold(socket));
  const identity = () => identityIn(folder, listens ?? "good");
  const deny = async (socket: Socket) => {
    if (accept === "stall") {
      hold(socket.resume());
      seen.acted = true;
      return;
    }
    // Whoever speaks has connected; before that, it would depend on luck.
    await new Promise((resolve) => socket.once("data", resolve));
    if (accept === "reset") socket.resetAndDestroy();
    else socket.end(accept === "plain" ? "HTTP/1.1 400 Bad Request\r\n\r\n" : "").resume();
  };

  const { accept } = behaviour;
  const server = accept
    ? createServer(deny)
    : protocol === "h1"
      ? createServer(speak)
      : protocol === "tls"
        ? createTlsServer({ ...identity(), ALPNProtocols: ["http/1.1"] }, speak)
        : http2Server(identity(), behaviour, seen, elsewhere.origin, hold);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  const port = await listen(server);

  const close = async (expected: number): Promise<Seen> => {
    for (let waited = 0; held.size > expected && waited < patience; waited += 10) await wait(10);
    seen.open = held.size;
    if (behaviour.kept) seen.posts--; // The first one was answered well.
    for (const socket of sockets) socket.destroy();
    server.close();
    elsewhere.server.close();
    return seen;
  };
  return { baseUrl: at(port), seen, close };
};
