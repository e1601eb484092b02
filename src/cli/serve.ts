import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { withoutThrowing } from "../lib/check.ts";

/** Answers one request. If it rejects, the connection is closed without an answer. */
export type Handler = (request: Request) => Promise<Response>;

/** Where a server listens. */
export interface Address {
  readonly hostname: string;
  /** 0 for any free port. */
  readonly port: number;
}

export interface Server {
  readonly port: number;
  /** Closes the port and every connection. */
  readonly stop: () => Promise<void>;
  /** Closes the port, waits for the answers under way for a second at most, then closes every connection. */
  readonly finish: () => Promise<void>;
}

/** What senders may take of this machine, times in milliseconds. Node keeps all; Bun and Deno have no such limits. */
export interface Limits {
  /** From the connection, or the last response, to the end of the headers. */
  readonly headTimeout: number;
  /** To the end of the body. */
  readonly requestTimeout: number;
  /** To the end of the first headers, while more than half of the connections are taken. */
  readonly silenceTimeout: number;
  /**
   * The most connections; above half of them, idle ones are closed. Each takes one of the files that a process may open, and
   * whoever opens many must leave some to the process.
   */
  readonly maxConnections: number;
}

type Serve = (handler: Handler, address: Address, limits?: Limits) => Promise<Server>;

/**
 * How long an idle connection stays open, in milliseconds: longer than proxies (600 s at most) and clients keep
 * it. If this process stalls, Node would close one on which a request has arrived already, and whoever has
 * sent a POST on it cannot know whether it placed a call.
 */
const idleTimeout = 620_000;

/** How long `finish` waits, in milliseconds. */
const finishTimeout = 1_000;

interface BunServer {
  readonly port: number;
  readonly stop: (closeActiveConnections: boolean) => Promise<void>;
}

/** The part of Bun's API that is used. */
declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly idleTimeout: number;
    readonly fetch: (request: Request) => Promise<Response>;
  }): BunServer;
};

interface DenoServer {
  readonly addr: { readonly port: number };
  readonly finished: Promise<void>;
  readonly shutdown: () => Promise<void>;
}

/** The part of Deno's API that is used. */
declare const Deno: {
  serve(
    options: {
      readonly hostname: string;
      readonly port: number;
      readonly signal: AbortSignal;
      readonly onListen: () => void;
    },
    handler: (request: Request) => Promise<Response>,
  ): DenoServer;
};

/** How often Node looks for connections that are too slow, in milliseconds. */
const checkInterval = 1_000;

const nodeOptions = ({ headTimeout, requestTimeout }: Limits) => ({
  headersTimeout: headTimeout,
  requestTimeout,
  connectionsCheckingInterval: checkInterval,
});

/** Keeps the number of connections to the limit. Silent ones are closed first, so that they keep nobody out who sends requests. */
const limitConnections = (server: HttpServer, { maxConnections, silenceTimeout }: Limits): void => {
  let open = 0;
  let sweep: ReturnType<typeof setTimeout> | undefined;
  /** The connections on which no request has come yet, and since when. */
  const silent = new Map<Socket, number>();
  const closeSilent = (): void => {
    const latest = performance.now() - silenceTimeout;
    for (const [socket, since] of silent) if (since <= latest) socket.destroy();
    const isCrowded = silent.size > 0 && open > maxConnections / 2;
    sweep = isCrowded ? setTimeout(closeSilent, silenceTimeout) : undefined;
  };
  server.maxConnections = maxConnections;
  server.on("request", ({ socket }) => silent.delete(socket));
  server.on("close", () => clearTimeout(sweep));
  server.on("connection", (socket) => {
    silent.set(socket, performance.now());
    socket.once("close", () => {
      open--;
      silent.delete(socket);
    });
    if (++open <= maxConnections / 2) return;
    server.closeIdleConnections();
    sweep ??= setTimeout(closeSilent, silenceTimeout);
  });
};

export const serveNode: Serve = async (handler, { hostname, port }, limits) => {
  const { createServer } = await import("node:http");
  const { getRequestListener } = await import("@hono/node-server");
  const server = createServer(
    limits ? nodeOptions(limits) : {},
    getRequestListener(
      async (request, { outgoing }) => {
        try {
          return await handler(request);
        } catch {
          outgoing.destroy();
          // The adapter ignores such a response.
          return new Response(null, { headers: { "x-hono-already-sent": "true" } });
        }
      },
      { overrideGlobalObjects: false },
    ),
  );
  server.keepAliveTimeout = idleTimeout;
  if (limits) limitConnections(server, limits);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, hostname, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
    finish: () =>
      new Promise((resolve) => {
        const limit = setTimeout(() => server.closeAllConnections(), finishTimeout);
        const sweep = setInterval(() => server.closeIdleConnections(), 10);
        server.close(() => {
          clearTimeout(limit);
          clearInterval(sweep);
          resolve();
        });
      }),
  };
};

const serveBun: Serve = async (handler, { hostname, port }) => {
  // Bun gives no access to the connection, but closes one whose body fails.
  const dropped = (): Response =>
    new Response(
      new ReadableStream({
        pull: async (controller) => {
          await null;
          controller.error();
        },
      }),
      { status: 202 },
    );
  const answer = (request: Request) => handler(request).catch(dropped);
  // No idle timeout: the page keeps a stream of events open, and some answers never come.
  const server = Bun.serve({ hostname, port, idleTimeout: 0, fetch: answer });
  const stop = () => server.stop(true);
  const finish = async (): Promise<void> => {
    const limit = setTimeout(stop, finishTimeout);
    await server.stop(false);
    clearTimeout(limit);
    await stop();
  };
  return { port: server.port, stop, finish };
};

const serveDeno: Serve = async (handler, { hostname, port }) => {
  // Deno gives no access to the connection, but closes one whose body is shorter than its length.
  const dropped = (): Response =>
    new Response(new ReadableStream({ start: (controller) => controller.close() }), {
      status: 202,
      headers: { "Content-Length": "1" },
    });
  const stopping = new AbortController();
  const { signal } = stopping;
  // Not the request's own signal: it aborts after every answer too, and Deno warns whoever uses it.
  const answer = async ({ url, method, headers, body }: Request): Promise<Response> => {
    // A host that is none, and methods such as TRACE: Deno would print an error, with the URL, for each.
    const request = withoutThrowing(() => new Request(url, { method, headers, body, signal }));
    if (!request) return new Response(null, { status: 400 });
    return handler(request).catch(dropped);
  };
  const server = Deno.serve({ hostname, port, signal, onListen: () => {} }, answer);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await server.finished;
  };
  const finish = async (): Promise<void> => {
    const limit = setTimeout(stop, finishTimeout);
    await server.shutdown();
    clearTimeout(limit);
  };
  return { port: server.addr.port, stop, finish };
};

/**
 * Listens with the server of the runtime.
 *
 * @throws the runtime's error if the port cannot be opened; its `code` is the reason
 */
export const serve: Serve = (handler, address, limits) => {
  if ("Deno" in globalThis) return serveDeno(handler, address);
  if ("Bun" in globalThis) return serveBun(handler, address);
  return serveNode(handler, address, limits);
};
