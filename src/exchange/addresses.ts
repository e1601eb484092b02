import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, isIPv4, type LookupFunction } from "node:net";
import type { StreamSocket } from "../emulator/stream.ts";
import { dispatchers } from "../http/dispatcher.ts";
import type { Send } from "../server/outgoing.ts";

/** The ranges of IPv4 that no public server has (IANA's registry of special-purpose addresses). */
const specialIPv4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;

/** Public servers have IPv6 addresses of this range: those that stand for one of IPv4 are outside it, or below. */
const globalIPv6 = "2000::/3";

/** The ranges in it that no public server has: protocols, documentation, and tunnels to any IPv4 address. */
const specialIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"] as const;

const listOf = (type: "ipv4" | "ipv6", ranges: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = "", bits] = range.split("/");
    list.addSubnet(net, Number(bits), type);
  }
  return list;
};

const lists = {
  special4: listOf("ipv4", specialIPv4),
  global6: listOf("ipv6", [globalIPv6]),
  special6: listOf("ipv6", specialIPv6),
} as const;

/** Whether an IP address may be a public server's. An address of one network only, with its zone, is none. */
export const isPublicAddress = (address: string): boolean => {
  if (isIPv4(address)) return !lists.special4.check(address, "ipv4");
  if (address.includes("%") || isIP(address) !== 6) return false;
  return lists.global6.check(address, "ipv6") && !lists.special6.check(address, "ipv6");
};

/** Finds all addresses of a host's name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** As the machine finds them. */
const systemResolve: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    );
  });

/** Where an exchange sends its requests, and opens its media sockets. */
export interface AddressOptions {
  /**
   * The origins that may have an address which isn't public, such as `http://10.0.0.5:3000`. Those of http are in plain text,
   * and must have such an address.
   */
  readonly privateOrigins: readonly string[];
  /** Finds the addresses of a name; the machine's own way by default. */
  readonly resolve?: Resolve;
  /** Whether an address is public; by IANA's registry by default. */
  readonly isPublic?: (address: string) => boolean;
  /** The certificates of the authorities that are trusted, in PEM; Node's own by default. */
  readonly ca?: string | undefined;
}

/** What goes to applications: requests and media sockets, to allowed addresses alone. */
export interface Addresses {
  /** Sends a request to an allowed address; redirects are not followed. */
  readonly outgoing: Send;
  /**
   * Opens a media socket.
   *
   * @throws {TypeError} when its URL isn't allowed
   */
  readonly openSocket: (
    url: string,
    headers?: Readonly<Record<string, string>> | undefined,
  ) => StreamSocket;
  /** Closes all connections. */
  readonly close: () => Promise<void>;
}

/** How a URL is reached: each way has connections of its own. */
type Way = "public" | "named" | "plain";

const nextStep = 'name its origin in "privateOrigins" of outdial-exchange.json if it is yours';

/** The rule of the addresses of each way, and what is said of others. */
const rules: Readonly<
  Record<Way, readonly [accepts: (isPublic: boolean) => boolean, text: string]>
> = {
  public: [(isPublic) => isPublic, `leads to an address that is not public: ${nextStep}`],
  named: [() => true, ""],
  plain: [
    (isPublic) => !isPublic,
    "leads to a public address in plain text: use https, or wss for a media socket",
  ],
};

/** The lookup of a connection: what it returns was checked, and is what the connection is made to. */
const checkedLookup =
  (resolve: Resolve, isAccepted: (address: string) => boolean, refusal: string): LookupFunction =>
  (hostname, { all }, done) => {
    const fail = (error: Error) => done(error, "", 0);
    resolve(hostname).then((addresses) => {
      const [first] = addresses;
      if (!first) return fail(new TypeError("has no address"));
      if (!addresses.every(({ address }) => isAccepted(address))) {
        return fail(new TypeError(refusal));
      }
      return all ? done(null, [...addresses]) : done(null, first.address, first.family);
    }, fail);
  };

/** The connections of one way: an agent of Node's own `fetch`, which its WebSocket takes too. */
const agentOf = (connect: object): { readonly close: () => Promise<void> } => {
  // Any use of Node's fetch makes it.
  Reflect.get(globalThis, "Response");
  const agent = dispatchers().find(
    (each) => each instanceof Object && each.constructor.name === "Agent",
  );
  if (!(agent instanceof Object)) {
    throw new TypeError(
      "the exchange needs the fetch of Node, and no proxy: unset NODE_USE_ENV_PROXY",
    );
  }
  return Reflect.construct(agent.constructor, [{ connect }]);
};

const originOf = ({ protocol, host }: URL): string => `${protocol.replace("ws", "http")}//${host}`;

/**
 * Opens what requests and media sockets go by. A name is looked up for each connection: the addresses found are checked, all of
 * them, and the connection is made to one of these.
 *
 * @throws {TypeError} where Node's own fetch isn't there, or goes to a proxy
 */
export const openAddresses = ({
  privateOrigins,
  resolve = systemResolve,
  isPublic = isPublicAddress,
  ca,
}: AddressOptions): Addresses => {
  const named = new Set(privateOrigins.map((origin) => originOf(new URL(origin))));
  const accepts = (way: Way) => (address: string) => rules[way][0](isPublic(address));
  const open = (way: Way) =>
    agentOf({ ca, lookup: checkedLookup(resolve, accepts(way), rules[way][1]) });
  const agents = { public: open("public"), named: open("named"), plain: open("plain") };
  /** The connections for a URL. */
  const agentFor = (text: string) => {
    const url = new URL(text);
    const isPlain = url.protocol === "http:" || url.protocol === "ws:";
    const isNamed = named.has(originOf(url));
    if (url.username || url.password) throw new TypeError("must be without user and password");
    if (isPlain && !isNamed) {
      throw new TypeError(`must be https, or wss for a media socket: ${nextStep}`);
    }
    const way: Way = isPlain ? "plain" : isNamed ? "named" : "public";
    const literal = url.hostname.replace(/^\[|\]$/g, "");
    // No name to look up. The parser has made decimal and octal numbers into four.
    if (isIP(literal) && !accepts(way)(literal)) throw new TypeError(rules[way][1]);
    return agents[way];
  };
  return {
    outgoing: async (request, { signal }) =>
      fetch(request, { signal, redirect: "manual", ...{ dispatcher: agentFor(request.url) } }),
    openSocket: (url, headers) =>
      Reflect.construct(WebSocket, [
        url,
        { dispatcher: agentFor(url), ...(headers && { headers }) },
      ]),
    close: async () => {
      await Promise.all(Object.values(agents).map((agent) => agent.close()));
    },
  };
};
