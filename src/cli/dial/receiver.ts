import { callbackHandler } from "../../callbacks/index.ts";
import type { Received } from "../../callbacks/receive.ts";
import { isLoopback } from "../../rules/url.ts";
import { exits, Failure, UsageError } from "../command/failure.ts";
import { baseUrlOf } from "../local/address.ts";
import { serve } from "../serve/serve.ts";

/** Where notifications come to. */
export interface Receiver {
  /** As the service is told. */
  readonly url: string;
  /** Closes the port, once what has come is answered: the service would send it again. */
  readonly stop: () => Promise<void>;
}

/** @throws {UsageError} when it is no `host:port` */
const addressOf = (text: string): { readonly hostname: string; readonly port: number } => {
  const [, hostname = "127.0.0.1", digits] = /^(?:\[?([^\]]+)\]?:)?(\d+)$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits && port < 2 ** 16) return { hostname, port };
  throw new UsageError("--listen must be a host and a port, such as 127.0.0.1:8080");
};

/**
 * Receives notifications on a port of this machine.
 *
 * @param publicUrl - where the service reaches it; left out, the address itself
 * @throws {UsageError} or a {Failure} when the port can't be had
 */
export const receive = async (
  listen: string,
  publicUrl: string | undefined,
  service: string,
  secret: string,
  onEvent: (received: Received) => unknown,
): Promise<Receiver> => {
  const address = addressOf(listen);
  const own = baseUrlOf(address.hostname, address.port);
  if (!publicUrl && !(isLoopback(own) && isLoopback(service))) {
    throw new UsageError("--listen needs --public-url, where the service reaches it");
  }
  if (publicUrl && /[?#]/.test(publicUrl)) {
    throw new UsageError("--public-url is the start of URLs: it can't have a query or a fragment");
  }
  const status = callbackHandler({ secret, onEvent });
  const handler = async (request: Request): Promise<Response> =>
    new URL(request.url).pathname.endsWith("/status")
      ? status(request)
      : new Response(null, { status: 404 });
  const server = await serve(handler, address).catch((error: unknown) => {
    throw new Failure(`--listen: the port can't be had (${Object(error).code})`, exits.usage);
  });
  const base = publicUrl ?? baseUrlOf(address.hostname, server.port);
  return { url: `${base.replace(/\/+$/, "")}/status`, stop: server.finish };
};
