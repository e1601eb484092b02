// What pipecat sends and reads on a WebSocket of Vonage's: its `VonageFrameSerializer`, and its transport with
// `fixed_audio_packet_size=640`. The JSON is spelled as Python's `json.dumps` does.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { callOf, place, startApplication, startVonage } from "./stage.ts";

const packet = 640;

/** A bot of pipecat's. */
class Bot {
  readonly #socket: WebSocket;
  #buffer: Buffer = Buffer.alloc(0);
  readonly events: unknown[] = [];
  /** Bytes of each `InputAudioRawFrame`. */
  readonly audio: number[] = [];
  readonly digits: string[] = [];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) return void this.audio.push(data.length);
      const { event, digit, dtmf } = JSON.parse(String(data));
      this.events.push(event);
      if (event === "websocket:connected") {
        // 40 ms at a time, resampled: never a whole number of packets.
        for (let sent = 0; sent < 10_000; sent += 40) this.say(1_280 + (sent % 80 === 0 ? 2 : -2));
        // `OutputTransportMessageFrame`
        socket.send('{"action": "notify", "payload": {"part": "greeting"}}');
      }
      if (event === "websocket:dtmf") {
        this.digits.push(String(digit ?? dtmf?.digit));
        socket.send('{"action": "clear"}');
      }
      if (event === "websocket:cleared" && this.digits.at(-1) === "#") socket.close();
    });
  }

  /** `AudioRawFrame`: the transport cuts it into packets, and keeps the rest. */
  say(bytes: number): void {
    const samples = new Int16Array(bytes / 2).fill(9_000);
    this.#buffer = Buffer.concat([this.#buffer, new Uint8Array(samples.buffer)]);
    while (this.#buffer.length >= packet) {
      this.#socket.send(this.#buffer.subarray(0, packet));
      this.#buffer = this.#buffer.subarray(packet);
    }
  }
}

test("a bot of pipecat's: heard, interrupted by a key, and the socket closed", async () => {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  const bots: Bot[] = [];
  sockets.on("connection", (socket) => void bots.push(new Bot(socket)));
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    for (const socket of sockets.clients) socket.terminate();
    await new Promise((done) => http.close(done));
  });
  const uri = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/ws`;
  const endpoint = [{ type: "websocket", uri, "content-type": "audio/l16;rate=16000" }];
  const web = await startApplication({ "/answer": [{ action: "connect", endpoint }] });
  const { emulator, client } = await startVonage({
    clock: "real",
    ringDuration: 0,
    callee: [
      { type: "listen", ms: 300 },
      { type: "press", digits: "5" },
      { type: "silence", ms: 100 },
      { type: "press", digits: "#" },
      { type: "silence", ms: 60_000 },
    ],
  });
  const uuid = await place(client, callOf(web.origin));
  const { flow_error, history } = await emulator.ended(uuid);
  expect(flow_error).toBeUndefined();
  const stream = history.findLast(({ type }) => type === "stream");
  expect(stream).toMatchObject({ state: "closed", malformed: [], ignored: [] });
  const [bot] = bots;
  expect(bot?.digits).toEqual(["5", "#"]);
  expect(new Set(bot?.audio)).toEqual(new Set([packet]));
  // What was to be told of the audio was dropped with it.
  expect(bot?.events).toEqual([
    "websocket:connected",
    "websocket:dtmf",
    "websocket:cleared",
    "websocket:dtmf",
    "websocket:cleared",
  ]);
  const { cuts = [] } = emulator.audio(uuid) ?? {};
  expect(cuts[0]?.samples).toBeGreaterThan(0);
});
