import { isIPv6 } from "node:net";
import { isLoopback } from "../../rules/url.ts";

/** Where the emulator listens unless it is told otherwise, and where `outdial call` looks for one. */
export const defaultPort = 4010;

const everywhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

const loopback = ["127.0.0.1", "localhost", "[::1]"];

/** A host as it stands in a URL. */
const inUrl = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

/** The URL at which this machine reaches a server that is bound to a host. */
export const baseUrlOf = (host: string, port: number): string =>
  `http://${inUrl(everywhere.has(host) ? "127.0.0.1" : host)}:${port}`;

/** Whether only this machine can reach a server that is bound to a host. */
export const isPrivate = (host: string): boolean =>
  !everywhere.has(host) && isLoopback(baseUrlOf(host, defaultPort));

/** An address and no name: a name could be anyone's, and lead here. */
const isAddress = (host: string): boolean => /^(\d+(\.\d+){3}|\[[\da-f:.]+\])$/i.test(host);

/** Says which `Host` headers belong to a server that is bound to a host. */
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
