import { createServer as createHttpServer, type Server } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import {
  type AddressOptions,
  isPublicAddress,
  openAddresses,
  type Resolve,
} from "../../../src/exchange/addresses.ts";
import { reachOf, requester } from "../../../src/server/outgoing.ts";
import { type Identity, identityIn, makeCertificates } from "../../faults/certificates.ts";

describe("an address", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.167.0.1",
    "198.17.0.1",
    "223.255.255.254",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "2001:4860:4860::8888",
  ])("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    // Of IPv4: mapped, compatible, translated, tunnelled.
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2002:7f00:1::1",
    "2001:0:7f00:1::1",
    "100::1",
    "2001:db8::1",
    "3fff::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1111%eth0",
    "fec0::1",
    "ff02::1",
    "5f00::1",
    "localhost",
    "",
    "127.1",
    "0177.0.0.1",
  ])("%s is not public", (address) => expect(isPublicAddress(address)).toBe(false));
});

let identity: Identity;
let ca = "";

beforeAll(() => {
  const { folder } = makeCertificates();
  identity = identityIn(folder, "good");
  ca = identityIn(folder, "authority").cert;
});

const open: Server[] = [];
afterAll(() => {
  for (const server of open) server.close();
});

/** Where the tests' "public" servers are; all other addresses of this machine are private. */
const publicHost = "127.0.0.2";

/** A server with a certificate of `localhost`: what it was asked, and its port. */
const serverAt = async (host: string, port = 0, location?: string) => {
  const asked: string[] = [];
  const server = createServer(
    { key: identity.key, cert: identity.cert },
    ({ url = "" }, response) => {
      asked.push(url);
      response.writeHead(location ? 302 : 200, {
        Connection: "close",
        ...(location && { Location: location }),
      });
      response.end("ok");
    },
  );
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  onTestFinished(() => void server.close());
  return { server, asked, port: (server.address() as AddressInfo).port };
};

/** Finds a list of addresses at each lookup, the last one again and again. */
const resolving = (...found: readonly (readonly string[])[]) => {
  let lookups = 0;
  const resolve: Resolve = async () =>
    (found[Math.min(lookups++, found.length - 1)] ?? []).map((address) => ({
      address,
      family: address.includes(":") ? 6 : 4,
    }));
  return { resolve, lookups: () => lookups };
};

const opened = (options: Partial<AddressOptions>) => {
  const addresses = openAddresses({
    privateOrigins: [],
    isPublic: (address) => address === publicHost,
    ca,
    ...options,
  });
  onTestFinished(() => addresses.close());
  return addresses;
};

const { signal } = new AbortController();

/** The status of a request, or the reason that it was not sent for. */
const send = async ({ outgoing }: Pick<ReturnType<typeof opened>, "outgoing">, url: string) => {
  const request = requester(outgoing, 5_000);
  const reach = reachOf(true, true);
  const { response, error } = await request(
    url,
    {},
    { limit: 100, redirects: "any", reach, signal },
  );
  return error ?? response?.status;
};

const notPublic = /^leads to an address that is not public: name its origin/;

describe("a request of an exchange", () => {
  it("goes to a public address by https", async () => {
    const { port, asked } = await serverAt(publicHost);
    const { resolve } = resolving([publicHost]);
    expect(await send(opened({ resolve }), `https://localhost:${port}/flow`)).toBe(200);
    expect(asked).toEqual(["/flow"]);
  });

  it.each([
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://0/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://10.0.0.1/",
    "https://[fd00::1]/",
  ])("goes to no private address as it is written: %s", async (url) => {
    expect(await send(openAddresses({ privateOrigins: [] }), url)).toMatch(notPublic);
  });

  it("goes to no name of this machine", async () => {
    const addresses = openAddresses({ privateOrigins: [] });
    expect(await send(addresses, "https://localhost/")).toMatch(notPublic);
  });

  it("goes nowhere by a name with a private address among others, whatever their order", async () => {
    const { port, asked } = await serverAt(publicHost);
    for (const found of [
      [publicHost, "127.0.0.1"],
      ["127.0.0.1", publicHost],
      [publicHost, "::1"],
    ]) {
      const { resolve } = resolving(found);
      expect(await send(opened({ resolve }), `https://localhost:${port}/`)).toMatch(notPublic);
    }
    expect(asked).toEqual([]);
  });

  it("is connected to the address that was checked, with one lookup for each connection", async () => {
    const { port, asked } = await serverAt(publicHost);
    const inside = await serverAt("127.0.0.1", port);
    // Its second answer leads inside.
    const { resolve, lookups } = resolving([publicHost], ["127.0.0.1"]);
    const addresses = opened({ resolve });
    expect(await send(addresses, `https://localhost:${port}/1`)).toBe(200);
    expect(lookups()).toBe(1);
    expect(await send(addresses, `https://localhost:${port}/2`)).toMatch(notPublic);
    expect(lookups()).toBe(2);
    expect(asked).toEqual(["/1"]);
    expect(inside.asked).toEqual([]);
  });

  it("is not led inside by a redirect", async () => {
    const inside = await serverAt("127.0.0.1");
    for (const location of [
      `https://127.0.0.1:${inside.port}/`,
      `https://inside.test:${inside.port}/`,
      "http://127.0.0.1:8088/ari/channels",
    ]) {
      const { port } = await serverAt(publicHost, 0, location);
      const resolve: Resolve = async (name) => [
        { address: name === "localhost" ? publicHost : "127.0.0.1", family: 4 },
      ];
      const reason = await send(opened({ resolve }), `https://localhost:${port}/`);
      expect(reason).toMatch(/not public|must be https|redirects to where it must not/);
    }
    expect(inside.asked).toEqual([]);
  });

  it("is never plain http, unless its origin is named and private", async () => {
    const server = createHttpServer((_, response) => response.end("ok"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/`;
    expect(await send(opened({}), url)).toMatch(/^must be https/);
    const named = opened({ privateOrigins: [`http://127.0.0.1:${port}`] });
    expect(await send(named, url)).toBe(200);
    // Another port of the same machine.
    expect(await send(named, "http://127.0.0.1:8088/")).toMatch(/^must be https/);
    const { resolve } = resolving([publicHost]);
    const origin = `http://localhost:${port}`;
    expect(await send(opened({ resolve, privateOrigins: [origin] }), `${origin}/`)).toMatch(
      /^leads to a public address in plain text/,
    );
  });

  it("goes to a private address whose https origin is named", async () => {
    const { port } = await serverAt("127.0.0.1");
    const { resolve } = resolving(["127.0.0.1"]);
    const privateOrigins = [`https://localhost:${port}`];
    expect(await send(opened({ resolve, privateOrigins }), `https://localhost:${port}/`)).toBe(200);
    // The same machine by another name.
    expect(await send(opened({ resolve, privateOrigins }), `https://other.test:${port}/`)).toMatch(
      notPublic,
    );
  });
});

/** Whether a socket opens. */
const opens = (socket: ReturnType<ReturnType<typeof opened>["openSocket"]>): Promise<boolean> =>
  new Promise((resolve) => {
    socket.addEventListener("open", () => {
      resolve(true);
      socket.close();
    });
    socket.addEventListener("error", () => resolve(false));
    socket.addEventListener("close", () => resolve(false));
  });

describe("a media socket of an exchange", () => {
  it("goes to a public address by wss, with its headers", async () => {
    const { server, port } = await serverAt(publicHost);
    const signatures: unknown[] = [];
    new WebSocketServer({ server }).on("connection", (socket: WebSocket, { headers }) => {
      signatures.push(headers["x-twilio-signature"]);
      socket.close();
    });
    const { resolve } = resolving([publicHost]);
    const headers = { "X-Twilio-Signature": "abc" };
    const { openSocket } = opened({ resolve });
    expect(await opens(openSocket(`wss://localhost:${port}/media`, headers))).toBe(true);
    expect(signatures).toEqual(["abc"]);
  });

  it("does not enter Asterisk's media sockets", async () => {
    const { openSocket } = opened({ resolve: resolving(["127.0.0.1"]).resolve });
    for (const url of [
      "ws://127.0.0.1:8088/media/1",
      "ws://localhost:8088/media/1",
      "wss://127.0.0.1:8088/media/1",
      "wss://user:password@app.test/",
    ]) {
      expect(() => openSocket(url)).toThrow(TypeError);
    }
  });

  it("is not opened at a private address that a name leads to, nor by a redirect", async () => {
    const inside = await serverAt("127.0.0.1");
    const { resolve } = resolving(["127.0.0.1"]);
    expect(await opens(opened({ resolve }).openSocket(`wss://localhost:${inside.port}/`))).toBe(
      false,
    );
    const { port } = await serverAt(publicHost, 0, `https://127.0.0.1:${inside.port}/`);
    const outside = opened({ resolve: resolving([publicHost]).resolve });
    expect(await opens(outside.openSocket(`wss://localhost:${port}/`))).toBe(false);
    expect(inside.asked).toEqual([]);
  });
});
