import { callbackHandler, type Received, type Secret } from "../../callbacks/index.ts";
import type { Service } from "../../service.ts";
import { baseUrlOf, isLoopback } from "../address.ts";
import { exits, Failure, UsageError } from "../command.ts";
import { serve } from "../serve.ts";
import { codeOf } from "../terminal.ts";

/** A server for notifications. */
export interface Receiver {
  /** Its URL, as the service reaches it. */
  readonly url: string;
  /** Its URL on this machine, with the port that was opened. */
  readonly localUrl: string;
  /** Closes the port once open requests are answered: the service would send them again. */
  readonly stop: () => Promise<void>;
}

interface ReceiverOptions {
  /** `host:port`. */
  readonly listen: string;
  /**
   * Where the service reaches it.
   *
   * @defaultValue the address itself, if the service is on this machine too
   */
  readonly publicUrl: string | undefined;
  /** The service's base URL; a carrier's own is not on this machine. */
  readonly baseUrl: string | undefined;
  /** The carrier, which has notifications of its own form. */
  readonly service: Service | undefined;
  readonly secret: Secret;
  /** Called with each verified notification; if it throws, the service sends that again. */
  readonly onEvent: (received: Received) => unknown;
  /** Called with refused requests, and with what `onEvent` throws. */
  readonly onError: (error: unknown) => void;
}

/** @throws {UsageError} if it is not `host:port` */
const addressOf = (text: string): { readonly hostname: string; readonly port: number } => {
  const [, hostname = "127.0.0.1", digits] = /^(?:\[?([^\]]+)\]?:)?(\d+)$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits && port < 2 ** 16) return { hostname, port };
  throw new UsageError("--listen must be a host and a port, such as 127.0.0.1:8080");
};

/**
 * Receives notifications on a port of this machine.
 *
 * @throws {UsageError} or a {Failure} if the port cannot be opened
 */
export const startReceiver = async ({
  listen,
  publicUrl,
  baseUrl,
  service,
  secret,
  onEvent,
  onError,
}: ReceiverOptions): Promise<Receiver> => {
  const address = addressOf(listen);
  const own = baseUrlOf(address.hostname, address.port);
  if (!publicUrl && !(isLoopback(own) && isLoopback(baseUrl ?? ""))) {
    throw new UsageError("--listen needs --public-url, where the service reaches it");
  }
  if (publicUrl && /[?#]/.test(publicUrl)) {
    throw new UsageError("--public-url is the start of URLs: drop its query or fragment");
  }
  const statusUrl = (base: string): string => `${base.replace(/\/+$/, "")}/status`;
  const status = callbackHandler({
    secret,
    onEvent,
    onError,
    // A carrier signs the whole URL that it calls.
    ...(service && { service, ...(publicUrl && { publicUrl: statusUrl(publicUrl) }) }),
  });
  const handler = async (request: Request): Promise<Response> =>
    new URL(request.url).pathname.endsWith("/status")
      ? status(request)
      : new Response(null, { status: 404 });
  const server = await serve(handler, address).catch((error: unknown) => {
    throw new Failure(`--listen: the port cannot be opened (${codeOf(error)})`, exits.usage);
  });
  const local = baseUrlOf(address.hostname, server.port);
  return { url: statusUrl(publicUrl ?? local), localUrl: statusUrl(local), stop: server.finish };
};
