import { once } from "node:events";
import { createConnection } from "node:net";
import { afterAll, afterEach, expect, test } from "vitest";
import { WebSocket as Socket, WebSocketServer } from "ws";
import { streamSession } from "../../../../src/flows/media/session.ts";
import type { Closed } from "../../../../src/flows/media/socket.ts";
import { withHeldTimers } from "../../../conformance/timers.ts";
import { start } from "./start.ts";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
await once(server, "listening");
const address = server.address();
const port = typeof address === "object" && address?.port;

/** The service, connected to the application over TCP. */
const connected = async () => {
  const accepted = once(server, "connection");
  const service = new Socket(`ws://127.0.0.1:${port}`);
  const [application] = (await accepted) as [Socket];
  if (service.readyState !== 1) await once(service, "open");
  return { service, application };
};

const audio = (bytes: Uint8Array) => ({
  type: "audio",
  stream_id: "st_1",
  message_id: 2,
  data: { audio_b64: Buffer.from(bytes).toString("base64") },
});

afterEach(() => {
  for (const socket of server.clients) socket.terminate();
});

afterAll(() => {
  server.close();
});

test("an echo over TCP gives back every byte, and a hang-up ends it", async () => {
  const { service, application } = await connected();
  const closed = new Promise<Closed>((resolve) => {
    const stream = streamSession(application, {
      onAudio: ({ bytes }) => stream.audio(bytes),
      onClose: resolve,
    });
  });
  const spoken = Uint8Array.from({ length: 32_000 }, (_, index) => (index * 31) % 256);
  const heard: number[] = [];
  const all = new Promise<void>((resolve) => {
    service.on("message", (message) => {
      heard.push(...Buffer.from(JSON.parse(String(message)).audio_b64, "base64"));
      if (heard.length === spoken.length) resolve();
    });
  });
  service.send(JSON.stringify(start));
  for (let at = 0; at < spoken.length; at += 640) {
    service.send(JSON.stringify(audio(spoken.subarray(at, at + 640))));
  }
  await all;
  expect(Uint8Array.from(heard)).toEqual(spoken);
  service.close(1000, "hung up");
  expect(await closed).toEqual({ code: 1000, reason: "hung up" });
});

test("a service that doesn't read makes audio wait, with little buffered, and clear ends it", async () => {
  const { service, application } = await connected();
  const stream = streamSession(application, {});
  service.pause();
  const minutes = new Uint8Array(16_000_000);
  const said = stream.audio(minutes, "long");
  let before = -1;
  while (stream.waiting !== before || stream.buffered === 0) {
    before = stream.waiting;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(stream.waiting).toBeGreaterThan(0);
  expect(stream.buffered).toBeLessThan(2 ** 17);
  stream.clear();
  expect(await said).toBe(false);
  expect(stream.waiting).toBe(0);
  stream.close();
  service.terminate(); // It reads no close frame.
});

test("a frame that breaks the protocol ends a stream that the application has closed already, and nothing else", async () => {
  const accepted = once(server, "connection");
  const service = createConnection(Number(port), "127.0.0.1");
  const key = "AAAAAAAAAAAAAAAAAAAAAA==";
  service.write(
    "GET / HTTP/1.1\r\nHost: service.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  const [application] = (await accepted) as [Socket];
  const closed = new Promise((resolve) => application.on("close", resolve));
  const listeners = () => ["error", "close"].map((type) => application.listenerCount(type));
  const before = listeners();
  const ends: Closed[] = [];
  const stream = streamSession(application, { onClose: (news) => ends.push(news) });
  stream.close();
  service.resume();
  service.write(Buffer.from([0xf3, 0x80, 0, 0, 0, 0])); // Bits and an opcode that mean nothing.
  await closed;
  expect(ends).toEqual([{ code: 1000, reason: "" }]);
  expect(listeners()).toEqual(before);
  service.destroy();
});

test("a connection that breaks ends the session with 1006, and what waits", async () => {
  const { service, application } = await connected();
  const closed = new Promise<Closed>((resolve) => {
    const stream = streamSession(application, { onClose: resolve });
    void stream.audio(new Uint8Array(100));
  });
  service.terminate();
  expect((await closed).code).toBe(1006);
});

test("a service that never answers the close is cut in time", async () => {
  const { service, application } = await connected();
  service.close = () => {}; // This is how `ws` answers a close.
  const closed = Promise.all([once(application, "close"), once(service, "close")]);
  await withHeldTimers(
    (delay) => delay === 2_000,
    async ({ delays, fire }) => {
      const stream = streamSession(application, {});
      stream.close(1000, "done");
      await fire(2_000);
      await closed;
      expect(delays()).toEqual([]);
    },
  );
  expect(application.listenerCount("error")).toBe(0);
});
