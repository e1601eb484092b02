import { patience, type Serve } from "./server.ts";

interface DenoServer {
  readonly addr: { readonly port: number };
  readonly finished: Promise<void>;
  readonly shutdown: () => Promise<void>;
}

/** What is used of Deno. */
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

/** Deno gives no hold of the connection, but closes one whose body is shorter than its length. */
const dropped = (): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.close() }), {
    status: 202,
    headers: { "Content-Length": "1" },
  });

/** Deno's own server. */
export const serveDeno: Serve = async (handler, { hostname, port }) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  // Not the request's own signal: it aborts after every answer too, and Deno warns whoever uses it.
  const answer = ({ url, method, headers, body }: Request) =>
    handler(new Request(url, { method, headers, body, signal })).catch(dropped);
  const server = Deno.serve({ hostname, port, signal, onListen: () => {} }, answer);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await server.finished;
  };
  return {
    port: server.addr.port,
    stop,
    finish: async () => {
      const limit = setTimeout(stop, patience);
      await server.shutdown();
      clearTimeout(limit);
    },
  };
};
