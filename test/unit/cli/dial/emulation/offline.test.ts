import { createSocket } from "node:dgram";
import { once } from "node:events";
import { get } from "node:http";
import { connect, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { goOffline, offlineRule } from "../../../../../src/cli/dial/emulation/offline.ts";

test("offline nothing leaves the process, and afterwards all is as before", async () => {
  const before = globalThis.fetch;
  const server = createServer((socket) => socket.end());
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? Number(address?.port) : 0;
  const datagram = createSocket("udp4");
  onTestFinished(() => void datagram.close());

  const goOnline = goOffline();
  onTestFinished(goOnline);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(offlineRule);
  expect(() => new WebSocket("wss://app.test/")).toThrow(offlineRule);
  expect(() => connect(port, "127.0.0.1")).toThrow(offlineRule);
  expect(() => datagram.send("ping", port, "127.0.0.1")).toThrow(offlineRule);
  expect(() => get(`http://127.0.0.1:${port}/`)).toThrow(offlineRule);

  goOnline();
  expect(globalThis.fetch).toBe(before);
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
});
