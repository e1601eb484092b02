import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, expect, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type AgentSocket, release } from "../../../src/agents/open-socket.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { withHeldTimers } from "../../conformance/timers.ts";
import { start } from "../flows/media/start.ts";
import { plain, Socket } from "./talking.ts";

/** A server that takes connections, and never answers. */
const deaf = createServer((stream) => void stream.resume()).listen(0, "127.0.0.1");
await once(deaf, "listening");
const { port } = deaf.address() as AddressInfo;

afterAll(() => void deaf.close());

test("a socket of ws that is let go while it connects fails unheard, and keeps no listener", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  const connected = once(deaf, "connection");
  const [stream] = await connected;
  const closed = new Promise((resolve) => socket.on("close", resolve));
  release(socket as unknown as AgentSocket); // Else: Unhandled 'error' event.
  await closed;
  await new Promise(setImmediate);
  expect(socket.listenerCount("error")).toBe(0);
  stream.destroy();
});

test("a socket whose agent never answers the close is cut in time, and one that is closed keeps no timer", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await withHeldTimers(
    (delay) => delay === 2_000,
    async ({ delays, fire }) => {
      for (const answers of [false, true]) {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
        const [[peer]] = await Promise.all([once(server, "connection"), once(socket, "open")]);
        if (!answers) peer.close = () => {}; // This is how `ws` answers a close.
        const closed = Promise.all([once(socket, "close"), once(peer, "close")]);
        release(socket as unknown as AgentSocket);
        if (!answers) await fire(2_000);
        await closed;
        expect([delays(), socket.listenerCount("error")]).toEqual([[], 0]);
      }
    },
  );
  server.close();
});

test("a media socket of ws is pinged once, after the first audio, and keeps no listener", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const phone = new WebSocket(`ws://127.0.0.1:${port}/`);
  const [[line]] = await Promise.all([once(server, "connection"), once(phone, "open")]);
  let pings = 0;
  phone.on("ping", () => pings++);
  const mind = new Socket();
  const session = connectAgent(line, plain(), { open: () => mind });
  const ponged = once(line, "pong");
  for (const message of [start, start]) phone.send(JSON.stringify(message));
  await vi.waitFor(() => expect(mind.listeners.get("message")?.size).toBe(1));
  expect(pings).toBe(0);
  mind.receive({ type: "ready" });
  const audio = new Int16Array(8_000).fill(1_000).buffer;
  for (const each of [audio, audio]) mind.receive(each);
  await ponged;
  expect([pings, line.listenerCount("pong")]).toEqual([1, 0]);
  session.close();
  await once(phone, "close");
  server.close();
});
