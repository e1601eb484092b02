import { urlRule } from "../../lib/url.ts";
import type { Service } from "../../service.ts";
import { baseUrlOf, isLoopback } from "../address.ts";
import { exits, Failure, UsageError } from "../command.ts";
import { type Address, type Limits, serve } from "../serve.ts";
import { codeOf } from "../terminal.ts";
import { type ListOptions, serveList, urlBelow } from "./script.ts";

/** A server for the requests of a list's calls. */
export interface Receiver {
  /** The URL of the notifications, as the service reaches it. */
  readonly url: string;
  /** The URL of the script's flow, as the service reaches it. */
  readonly flowUrl: string;
  /** The URL of the notifications on this machine, with the port that was opened. */
  readonly localUrl: string;
  /** Closes the port once open requests are answered: the service would send them again. */
  readonly stop: () => Promise<void>;
}

interface ReceiverOptions extends Omit<ListOptions, "baseUrl"> {
  /** `host:port`. */
  readonly listen: string;
  /**
   * Where the service reaches it.
   *
   * @defaultValue the address itself, if the service is on this machine too
   */
  readonly publicUrl: string | undefined;
  /** The service's base URL; a carrier's own is not on this machine. */
  readonly serviceUrl: string | undefined;
  readonly service: Service | undefined;
}

/** It is on the internet: slow senders are cut off, and connections leave open files for the ledger. */
const limits: Limits = {
  headTimeout: 10_000,
  requestTimeout: 30_000,
  silenceTimeout: 500,
  maxConnections: 768,
};

/** @throws {UsageError} if it is not `host:port` */
const addressOf = (text: string): Address => {
  const [, hostname = "127.0.0.1", digits] = /^(?:\[?([^\]]+)\]?:)?(\d+)$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits && port < 2 ** 16) return { hostname, port };
  throw new UsageError("--listen must be a host and a port, such as 127.0.0.1:8080");
};

type ReceiverAddress = Pick<ReceiverOptions, "listen" | "publicUrl" | "serviceUrl">;

/**
 * Where the server listens.
 *
 * @throws {UsageError} if that is no address, or the service can't reach it
 */
export const receiverAddress = ({ listen, publicUrl, serviceUrl }: ReceiverAddress): Address => {
  const address = addressOf(listen);
  const own = baseUrlOf(address.hostname, address.port);
  if (!publicUrl) {
    if (isLoopback(own) && isLoopback(serviceUrl ?? "")) return address;
    throw new UsageError("--listen needs --public-url, where the service reaches it");
  }
  if (!URL.canParse(publicUrl)) {
    throw new UsageError("--public-url must be a URL, such as https://calls.example");
  }
  if (/[?#]/.test(publicUrl)) {
    throw new UsageError("--public-url is the start of URLs: drop its query or fragment");
  }
  const rule = urlRule(publicUrl);
  if (rule) throw new UsageError(`--public-url ${rule}`);
  return address;
};

/**
 * Serves the requests of a list's calls on a port of this machine.
 *
 * @throws {UsageError} or a {Failure} if the port cannot be opened
 */
export const startReceiver = async ({
  listen,
  serviceUrl,
  ...options
}: ReceiverOptions): Promise<Receiver> => {
  const { publicUrl } = options;
  const address = receiverAddress({ listen, publicUrl, serviceUrl });
  let base = publicUrl ?? baseUrlOf(address.hostname, address.port);
  const handler = serveList({ ...options, baseUrl: () => base });
  const server = await serve(handler, address, limits).catch((error: unknown) => {
    throw new Failure(`--listen: the port cannot be opened (${codeOf(error)})`, exits.usage);
  });
  const local = baseUrlOf(address.hostname, server.port);
  base = publicUrl ?? local;
  return {
    url: urlBelow(base, "/status"),
    flowUrl: urlBelow(base, "/flow"),
    localUrl: urlBelow(local, "/status"),
    stop: server.finish,
  };
};
