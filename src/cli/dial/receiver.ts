import type { CampaignOptions } from "../../campaigns/index.ts";
import { urlRule } from "../../lib/url.ts";
import { baseUrlOf, isLoopback } from "../address.ts";
import { exits, Failure, UsageError } from "../command.ts";
import { type Address, type Limits, serve } from "../serve.ts";
import { codeOf } from "../terminal.ts";
import { type ListOptions, pathsOf, serveList, urlBelow } from "./script.ts";

/** A server for the requests of a list's calls. */
export interface Receiver {
  /** The URLs of the script's flow and of the notifications, as a service reaches them, by its name. */
  readonly urlsOf: (
    name: string | undefined,
  ) => Pick<CampaignOptions, "flow_url" | "status_callback_url">;
  /** The URLs of the notifications on this machine, with the port that was opened. */
  readonly localUrls: readonly string[];
  /** Closes the port once open requests are answered: the service would send them again. */
  readonly stop: () => Promise<void>;
}

interface ReceiverOptions {
  /** What serves each service. */
  readonly services: readonly [ServedService, ...ServedService[]];
  /** `host:port`. */
  readonly listen: string;
  /**
   * Where the service reaches it.
   *
   * @defaultValue the address itself, if the service is on this machine too
   */
  readonly publicUrl: string | undefined;
  /** The base URLs of the services; a carrier's own is not on this machine. */
  readonly serviceUrls: readonly string[];
}

type ServedService = Omit<ListOptions, "baseUrl" | "publicUrl">;

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

type ReceiverAddress = Pick<ReceiverOptions, "listen" | "publicUrl" | "serviceUrls">;

/**
 * Where the server listens.
 *
 * @throws {UsageError} if that is no address, or the service can't reach it
 */
export const receiverAddress = ({ listen, publicUrl, serviceUrls }: ReceiverAddress): Address => {
  const address = addressOf(listen);
  const own = baseUrlOf(address.hostname, address.port);
  if (!publicUrl) {
    if (isLoopback(own) && serviceUrls.every(isLoopback)) return address;
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
  services: [first, ...others],
  ...place
}: ReceiverOptions): Promise<Receiver> => {
  const { publicUrl } = place;
  const address = receiverAddress(place);
  let base = publicUrl ?? baseUrlOf(address.hostname, address.port);
  const served = (service: ServedService) => ({ ...service, publicUrl, baseUrl: () => base });
  const handler = serveList(served(first), ...others.map(served));
  const server = await serve(handler, address, limits).catch((error: unknown) => {
    throw new Failure(`--listen: the port cannot be opened (${codeOf(error)})`, exits.usage);
  });
  const local = baseUrlOf(address.hostname, server.port);
  base = publicUrl ?? local;
  return {
    urlsOf: (name) => {
      const { flow, status } = pathsOf(name);
      return { flow_url: urlBelow(base, flow), status_callback_url: urlBelow(base, status) };
    },
    localUrls: [first, ...others].map(({ name }) => urlBelow(local, pathsOf(name).status)),
    stop: server.finish,
  };
};
