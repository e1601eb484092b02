import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request as the service got it. */
interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly key: unknown;
  readonly body: unknown;
}

export interface Service {
  readonly url: string;
  readonly seen: Seen[];
  readonly close: () => void;
}

/** A service on loopback that answers every call in the same way. */
export const serve = async (answer: (response: ServerResponse) => void): Promise<Service> => {
  const seen: Seen[] = [];
  // Only a client closes an idle connection: a POST may be on its way on it.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { method, url, headers } = request;
    seen.push({ method, url, key: headers["x-api-key"], body: text && JSON.parse(text) });
    answer(response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, seen, close };
};

/** The end of a response in JSON. */
export const json =
  (status: number, body: unknown) =>
  (response: ServerResponse): void =>
    void response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify(body));
