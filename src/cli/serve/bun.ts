import { patience, type Serve } from "./server.ts";

interface BunServer {
  readonly port: number;
  readonly stop: (closeActiveConnections: boolean) => Promise<void>;
}

/** What is used of Bun. */
declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly idleTimeout: number;
    readonly fetch: (request: Request) => Promise<Response>;
  }): BunServer;
};

/** Bun gives no hold of the connection, but closes one whose body fails. */
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

/** Bun's own server. Nothing is idle for too long: the page listens, and some answers never come. */
export const serveBun: Serve = async (handler, { hostname, port }) => {
  const answer = (request: Request) => handler(request).catch(dropped);
  const server = Bun.serve({ hostname, port, idleTimeout: 0, fetch: answer });
  const stop = () => server.stop(true);
  const finish = async (): Promise<void> => {
    const limit = setTimeout(stop, patience);
    await server.stop(false);
    clearTimeout(limit);
    await stop();
  };
  return { port: server.port, stop, finish };
};
