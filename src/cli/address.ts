import { isIPv6 } from "node:net";

/** The default port of the emulator, and where `outdial call` looks for one. */
export const defaultPort = 4010;

const everywhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

const loopback = ["127.0.0.1", "localhost", "[::1]"];

/** A host as it appears in a URL. */
const inUrl = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** The URL at which this machine reaches a server that is bound to a host. */
export const baseUrlOf = (host: string, port: number): string =>
  `http://${inUrl(everywhere.has(host) ? "127.0.0.1" : host)}:${port}`;

/** Whether a URL leads to this machine. */
export const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** Whether only this machine can reach a server that is bound to a host. */
export const isPrivate = (host: string): boolean =>
  !everywhere.has(host) && isLoopback(baseUrlOf(host, defaultPort));

/** An IP address: a name could be anyone's, and lead here. */
const isAddress = (host: string): boolean => /^(\d+(\.\d+){3}|\[[\da-f:.]+\])$/i.test(host);

/** Returns which `Host` headers belong to a server that is bound to a host. */
export const hostsOf = (host: string, port: number): ((given: string) => boolean) => {
  const own = inUrl(host).toLowerCase();
  const names = loopback.includes(own) || everywhere.has(host) ? [own, ...loopback] : [own];
  const end = `:${port}`;
  return (given) => {
    const name = given.toLowerCase();
    const bare = name.endsWith(end) ? name.slice(0, -end.length) : port === 80 ? name : "";
    return names.includes(bare) || (everywhere.has(host) && isAddress(bare));
  };
};

const bypass = ["localhost", ".localhost", "127.0.0.1", "::1", "[::1]"];

/**
 * Makes calls to localhost bypass the proxies of the environment: Bun and Deno send them plain http too,
 * key included. Each runtime reads `NO_PROXY` when it first connects, so this runs before.
 *
 * @param baseUrl - one more URL whose host is reached directly, if that is on this machine
 */
export const reachDirectly = (baseUrl = ""): void => {
  const { no_proxy = "", NO_PROXY = "" } = process.env;
  const own = isLoopback(baseUrl) ? [new URL(baseUrl).hostname] : [];
  const all = [...no_proxy.split(","), ...NO_PROXY.split(","), ...bypass, ...own].filter(Boolean);
  process.env.no_proxy = process.env.NO_PROXY = [...new Set(all)].join(",");
};

/**
 * Whether an emulator answers at a base URL; it needs no key for that.
 *
 * @param timeout - milliseconds. A closed port fails at once, so only a server that never answers takes
 * that long
 */
export const isEmulator = async (baseUrl: string, timeout: number): Promise<boolean> => {
  const init = { signal: AbortSignal.timeout(timeout), redirect: "manual" } as const;
  try {
    const response = await fetch(baseUrl, init);
    await response.body?.cancel();
    return response.headers.get("Server") === "outdial-emulator";
  } catch {
    return false;
  }
};
