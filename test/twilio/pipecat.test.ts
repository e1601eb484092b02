// What pipecat sends and reads on a Media Stream: its runner (`parse_telephony_websocket`), its `TwilioFrameSerializer`
// and its transport, which writes 40 ms of audio at a time. The JSON is spelled as Python's `json.dumps` does.
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { encodeMulaw } from "../../src/lib/mulaw.ts";
import { accountSid, answering, authToken, from, listen, startTwilio } from "./stage.ts";

type Message = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Python's `json.dumps`, for what is sent here. */
const dumps = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `"${name}": ${dumps(field)}`);
  return `{${fields.join(", ")}}`;
};

const keypad = new Set("1234567890#*");

/** A bot of pipecat's, between `start` and the end of the call. */
class Bot {
  readonly #socket: WebSocket;
  readonly #first: Message[] = [];
  readonly #hangUp: (callSid: string) => Promise<unknown>;
  callData: Readonly<Record<string, unknown>> | undefined;
  /** Bytes of μ-law of each `InputAudioRawFrame`. */
  readonly audio: number[] = [];
  readonly digits: string[] = [];

  constructor(socket: WebSocket, hangUp: (callSid: string) => Promise<unknown>) {
    this.#socket = socket;
    this.#hangUp = hangUp;
    socket.on("message", (data) => {
      const message: Message = JSON.parse(String(data));
      if (this.callData) this.#deserialize(message);
      else this.#detect(message);
    });
  }

  get #streamSid(): unknown {
    return this.callData?.stream_id;
  }

  /** The carrier is told by the form of the first two messages. */
  #detect(message: Message): void {
    this.#first.push(message);
    if (this.#first.length < 2) return;
    const { event, start = {} } = message;
    expect(this.#first[0]).not.toHaveProperty("start");
    if (String(event) !== "start" || !("streamSid" in start) || !("callSid" in start)) {
      throw new Error("Auto-detection failed - unknown format");
    }
    const { streamSid: stream_id, callSid: call_id, customParameters: body } = start;
    this.callData = { stream_id, call_id, body };
    for (let sent = 0; sent < 10_000; sent += 40) this.say();
  }

  /** `AudioRawFrame`. */
  say(): void {
    const bytes = Buffer.from(encodeMulaw(new Int16Array(320).fill(9_000)));
    const media = { payload: bytes.toString("base64") };
    this.#socket.send(dumps({ event: "media", streamSid: this.#streamSid, media }));
  }

  #deserialize(message: Message): void {
    const { event, media, dtmf } = message;
    const name = String(event);
    if (name === "media") {
      this.audio.push(Buffer.from(String(media?.payload), "base64").length);
    } else if (name === "dtmf" && keypad.has(String(dtmf?.digit))) {
      this.digits.push(String(dtmf?.digit));
      // `InterruptionFrame`, and once the callee presses #, `EndFrame`: its serializer hangs up.
      this.#socket.send(dumps({ event: "clear", streamSid: this.#streamSid }));
      if (dtmf?.digit === "#") void this.#hangUp(String(this.callData?.call_id));
    }
  }
}

test("a bot of pipecat's: detected, heard, interrupted by a key, and the call hung up by REST", async () => {
  const app = express();
  const { origin, server } = await listen(app);
  // The runner answers the webhook with this document, as application/xml.
  app.all("/", (_, response) => {
    const url = `${origin.replace("http", "ws")}/ws`;
    response
      .type("application/xml")
      .send(
        `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n  <Connect>\n    <Stream url="${url}"><Parameter name="to_number" value="${answering}"/></Stream>\n  </Connect>\n</Response>`,
      );
  });
  const { emulator, client, baseUrl } = await startTwilio({
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
  const statuses: number[] = [];
  const hangUp = async (callSid: string) => {
    const { status } = await fetch(
      `${baseUrl}/2010-04-01/Accounts/${accountSid}/Calls/${callSid}.json`,
      {
        method: "POST",
        headers: { Authorization: `Basic ${btoa(`${accountSid}:${authToken}`)}` },
        body: new URLSearchParams({ Status: "completed" }),
      },
    );
    statuses.push(status);
  };
  const sockets = new WebSocketServer({ server, path: "/ws" });
  onTestFinished(() => sockets.close());
  const bots: Bot[] = [];
  sockets.on("connection", (socket) => void bots.push(new Bot(socket, hangUp)));
  const { sid } = await client.calls.create({ from, to: answering, url: `${origin}/` });
  const { state, flow_error, history } = await emulator.ended(sid);
  await expect.poll(() => statuses).toEqual([200]);
  expect({ state, flow_error }).toEqual({ state: "completed", flow_error: undefined });
  const stream = history.findLast(({ type }) => type === "stream");
  expect(stream).toMatchObject({ state: "closed", malformed: [], ignored: [] });
  const [bot] = bots;
  expect(bot?.callData).toMatchObject({ call_id: sid, body: { to_number: answering } });
  expect(bot?.digits).toEqual(["5", "#"]);
  expect(new Set(bot?.audio)).toEqual(new Set([160]));
  const { cuts = [], played = [] } = emulator.audio(sid) ?? {};
  expect(cuts[0]).toMatchObject({ type: "clear" });
  expect(played.reduce((sum, { samples }) => sum + samples / 8, 0)).toBeLessThan(10_000);
});
