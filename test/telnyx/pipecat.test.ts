// What pipecat sends and reads on Telnyx's media streaming: its runner (`parse_telephony_websocket`) and its
// `TelnyxFrameSerializer`, which names no stream. The JSON is spelled as Python's `json.dumps` does.
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { encodeMulaw } from "../../src/lib/mulaw.ts";
import { answering, from, listen, place, startApplication, startTelnyx } from "./stage.ts";

const keypad = new Set("1234567890#*");

/** A bot of pipecat's. */
class Bot {
  readonly #socket: WebSocket;
  #messages = 0;
  callData: object | undefined;
  /** Bytes of μ-law of each `InputAudioRawFrame`. */
  readonly audio: number[] = [];
  readonly digits: string[] = [];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      this.#messages++;
      // The carrier is told by the form of the first two messages.
      if (this.#messages === 2) this.#detect(message);
      if (this.#messages > 2) this.#deserialize(message);
    });
  }

  #detect({ start = {}, stream_id }: Readonly<Record<string, Readonly<Record<string, unknown>>>>) {
    const { call_control_id: call_id, media_format, from, to } = start;
    if (!stream_id || !call_id) throw new Error("Auto-detection failed - unknown format");
    this.callData = { stream_id, call_id, media_format, from, to };
    // `AudioRawFrame`, 40 ms at a time.
    const payload = Buffer.from(encodeMulaw(new Int16Array(320).fill(9_000))).toString("base64");
    for (let sent = 0; sent < 10_000; sent += 40) {
      this.#socket.send(`{"event": "media", "media": {"payload": "${payload}"}}`);
    }
  }

  #deserialize({ event, media, dtmf }: Readonly<Record<string, Readonly<Record<string, string>>>>) {
    const name = String(event);
    if (name === "media") this.audio.push(Buffer.from(media?.payload ?? "", "base64").length);
    if (name !== "dtmf" || !keypad.has(dtmf?.digit ?? "")) return;
    this.digits.push(dtmf?.digit ?? "");
    // `InterruptionFrame`
    this.#socket.send('{"event": "clear"}');
    if (dtmf?.digit === "#") this.#socket.close();
  }
}

test("a bot of pipecat's: detected, heard, interrupted by a key, and the socket closed", async () => {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  const origin = await listen(http);
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  const bots: Bot[] = [];
  sockets.on("connection", (socket) => void bots.push(new Bot(socket)));
  const url = `${origin.replace("http", "ws")}/ws`;
  const web = await startApplication({
    "/": `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n  <Connect>\n    <Stream url="${url}" bidirectionalMode="rtp"></Stream>\n  </Connect>\n</Response>`,
  });
  const { emulator, client } = await startTelnyx({
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
  const sid = await place(client, { Url: `${web.origin}/` });
  const { state, flow_error, history } = await emulator.ended(sid);
  expect({ state, flow_error }).toEqual({ state: "completed", flow_error: undefined });
  const stream = history.findLast(({ type }) => type === "stream");
  expect(stream).toMatchObject({ state: "closed", malformed: [], ignored: [] });
  const [bot] = bots;
  expect(bot?.callData).toMatchObject({
    call_id: sid,
    media_format: { encoding: "PCMU" },
    from,
    to: answering,
  });
  expect(bot?.digits).toEqual(["5", "#"]);
  expect(new Set(bot?.audio)).toEqual(new Set([160]));
  const { cuts = [] } = emulator.audio(sid) ?? {};
  expect(cuts[0]?.samples).toBeGreaterThan(0);
});
