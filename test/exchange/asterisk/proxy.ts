import type { AddressInfo } from "node:net";
import { createConnection, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What is between an exchange and its Asterisk, until the test is over: it can be cut. */
export interface Proxy {
  /** The origin of Asterisk's HTTP server, by way of the proxy. */
  readonly url: string;
  /** Cuts the connections whose latest GET is for a path; all of them without one. */
  readonly cut: (path?: string) => void;
  /** Refuses connections from now on, or takes them again. */
  readonly refuse: (isRefused: boolean) => void;
}

/** Opens a proxy in front of an HTTP server. */
export const openProxy = async (target: string): Promise<Proxy> => {
  const { hostname, port } = new URL(target);
  const connections = new Map<Socket, string>();
  let isRefused = false;
  const server = createServer((socket) => {
    if (isRefused) {
      socket.destroy();
      return;
    }
    const upstream = createConnection(Number(port), hostname);
    connections.set(socket, "");
    // One connection has many requests, one after the other.
    socket.on("data", (bytes) => {
      const [, path] = /^GET (\S+)/.exec(bytes.toString("latin1", 0, 200)) ?? [];
      if (path) connections.set(socket, path);
    });
    socket.pipe(upstream).pipe(socket);
    const end = () => {
      connections.delete(socket);
      socket.destroy();
      upstream.destroy();
    };
    for (const each of [socket, upstream]) each.on("error", end).on("close", end);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = (path = "") => {
    for (const [socket, latest] of connections) if (latest.startsWith(path)) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    cut,
    refuse: (refused) => {
      isRefused = refused;
    },
  };
};
