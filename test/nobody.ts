import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A port of this machine where nobody listens, as long as this process lives: the client's end of an open connection has
 * it. The port of a server that was closed may be the next test's server's.
 */
export const nobodysPort = async (): Promise<number> => {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer(accepted.resolve);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  for (const end of [client, await accepted.promise]) end.unref();
  server.close();
  return client.localPort ?? 0;
};

/** A URL with such a port. */
export const nobodysUrl = async (): Promise<string> => `http://127.0.0.1:${await nobodysPort()}`;
