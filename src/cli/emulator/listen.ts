import { exits, Failure } from "../command/failure.ts";
import { baseUrlOf } from "../local/address.ts";
import { isEmulator } from "../local/is-emulator.ts";
import { serve } from "../serve/serve.ts";
import type { Handler, Server } from "../serve/server.ts";

const refusals: Readonly<Record<string, string>> = {
  EACCES: "is not for everyone: take one from 1024",
  EADDRNOTAVAIL: "can't be had: this machine has no such address",
};

/** The next port that is free, of those that somebody would try. */
const nextFree = async (hostname: string, port: number): Promise<number | undefined> => {
  for (let other = port + 1; other <= Math.min(port + 10, 65_535); other++) {
    const server = await serve(async () => new Response(), { hostname, port: other }).catch(
      () => undefined,
    );
    await server?.stop();
    if (server) return other;
  }
  return;
};

const inUse = async (host: string, port: number): Promise<string> => {
  const free = await nextFree(host, port);
  const who = (await isEmulator(baseUrlOf(host, port))) ? "is in use by an emulator" : "is in use";
  return `${who}; try --port ${free ?? 0}`;
};

/** @throws {Failure} which says why the port can't be had, and what can */
export const listen = async (handler: Handler, host: string, port: number): Promise<Server> => {
  try {
    return await serve(handler, { hostname: host, port });
  } catch (error) {
    const { code } = Object(error);
    const why = code === "EADDRINUSE" ? await inUse(host, port) : refusals[code];
    throw new Failure(`port ${port} of ${host} ${why ?? "can't be had"}`, exits.refused);
  }
};
