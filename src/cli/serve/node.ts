import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { patience, type Serve } from "./server.ts";

/** The response of a connection that is dropped: the adapter leaves such a one alone. */
const dropped = (): Response => new Response(null, { headers: { "x-hono-already-sent": "true" } });

/** Node's http server. */
export const serveNode: Serve = async (handler, { hostname, port }) => {
  const server = createServer(
    getRequestListener(
      async (request, { outgoing }) => {
        try {
          return await handler(request);
        } catch {
          outgoing.destroy();
          return dropped();
        }
      },
      { overrideGlobalObjects: false },
    ),
  );
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
        const limit = setTimeout(() => server.closeAllConnections(), patience);
        const sweep = setInterval(() => server.closeIdleConnections(), 10);
        server.close(() => {
          clearTimeout(limit);
          clearInterval(sweep);
          resolve();
        });
      }),
  };
};
