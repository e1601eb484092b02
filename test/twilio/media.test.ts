import express from "express";
import twilio from "twilio";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import type { CallRecord, EmulatorOptions } from "../../src/emulator/index.ts";
import { decodeMulaw, encodeMulaw } from "../../src/lib/mulaw.ts";
import {
  closeAfter,
  type MediaMessage,
  marksOf,
  mediaOf,
  mediaSockets,
  type OnMessage,
} from "../markup/media-socket.ts";
import {
  accountSid,
  answering,
  authToken,
  follow,
  from,
  listen,
  startApplication,
  startTwilio,
  verbsOf,
} from "./stage.ts";

/** A message of Twilio. */
interface Message extends MediaMessage {
  readonly sequenceNumber?: string;
  readonly streamSid?: string;
}

const streamTo = (inside = "", attributes = "") =>
  `<Response><Connect><Stream url="wss://app.example/media"${attributes}>${inside}</Stream></Connect></Response>`;

/** A call that is streamed to an application in this process, by the instant clock. */
const streamed = async (
  onMessage: OnMessage<Message>,
  document = streamTo(),
  options: EmulatorOptions = {},
) => {
  const { sockets, WebSocket } = mediaSockets<Message>(onMessage, (sent) => ({
    streamSid: sent.findLast((message) => message.streamSid)?.streamSid,
  }));
  const { emulator, client } = await startTwilio({ WebSocket, ...options });
  const { sid } = await client.calls.create({ from, to: answering, twiml: document });
  const call = await emulator.ended(sid);
  const [socket] = sockets;
  if (!socket) throw new Error(`no socket: ${call.flow_error}`);
  return { call, socket, sockets, emulator, audio: emulator.audio(sid) };
};

const streamEntry = ({ history }: CallRecord) => history.findLast(({ type }) => type === "stream");

describe("Connect/Stream", () => {
  it("begins with connected and start, goes on with 20 ms of μ-law, and ends with stop", async () => {
    const document = streamTo(
      '<Parameter name="who" value="Ann &amp; Bob"/><Parameter name="n" value="2"/>',
    );
    const { call, socket } = await streamed(() => {}, document, {
      callee: [{ type: "silence", ms: 100 }, { type: "hangup" }],
    });
    const [connected, start, first] = socket.sent;
    const streamSid = start?.streamSid ?? "";
    expect(connected).toEqual({ event: "connected", protocol: "Call", version: "1.0.0" });
    expect(streamSid).toMatch(/^MZ[\da-f]{32}$/);
    expect(start).toEqual({
      event: "start",
      sequenceNumber: "1",
      start: {
        accountSid,
        streamSid,
        callSid: call.id,
        tracks: ["inbound"],
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 },
        customParameters: { who: "Ann & Bob", n: "2" },
      },
      streamSid,
    });
    expect(first).toMatchObject({ event: "media", sequenceNumber: "2", streamSid });
    const silence = Buffer.from(encodeMulaw(new Int16Array(160))).toString("base64");
    expect(mediaOf(socket)).toEqual(
      [0, 20, 40, 60].map((ms, index) => ({
        track: "inbound",
        chunk: String(index + 1),
        timestamp: String(ms),
        payload: silence,
      })),
    );
    expect(socket.sent.at(-1)).toEqual({
      event: "stop",
      sequenceNumber: String(socket.sent.length - 1),
      stop: { accountSid, callSid: call.id },
      streamSid,
    });
    expect(socket.closed).toBe(1);
  });

  it("has the callee's audio, and plays the application's", async () => {
    const samples = Int16Array.from({ length: 800 }, (_, at) => 50 * (at % 200));
    const { socket, audio } = await streamed(
      closeAfter(20, ({ event }, to) => {
        if (event === "start") to.play(100);
      }),
      streamTo(),
      {
        callee: [
          { type: "silence", ms: 40 },
          { type: "say", audio: samples },
        ],
      },
    );
    const heard = mediaOf(socket).map(({ payload }) => decodeMulaw(Buffer.from(payload, "base64")));
    expect(Array.from(heard[2] ?? [])).toEqual(
      Array.from(decodeMulaw(encodeMulaw(samples.subarray(0, 160)))),
    );
    expect(audio?.played).toMatchObject([{ from_ms: 0, to_ms: 100, samples: 800, end: "played" }]);
    const played = audio?.samples("application").subarray(0, 800);
    expect(new Set(played)).toEqual(new Set(decodeMulaw(encodeMulaw(new Int16Array([1_000])))));
  });

  it("gives marks back when all audio before them was played, at once where none is queued", async () => {
    const { socket } = await streamed(
      closeAfter(20, ({ event }, to) => {
        if (event !== "start") return;
        to.mark("nothing");
        to.play(50);
        to.mark("fifty");
        to.play(110);
        to.play(40);
        to.mark("two hundred");
        to.mark("again");
      }),
    );
    const names = ["nothing", "fifty", "two hundred", "again"];
    expect(marksOf(socket)).toEqual([
      ["nothing", 0],
      ["fifty", 40],
      ["two hundred", 180],
      ["again", 180],
    ]);
    const numbers = socket.sent.slice(1).map(({ sequenceNumber }) => Number(sequenceNumber));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(names).toHaveLength(4);
  });

  it("clear drops what is queued, and gives all marks back at once", async () => {
    const { socket, audio, call } = await streamed(
      closeAfter(20, ({ event, media }, to) => {
        if (event === "start") {
          to.play(1_000);
          to.mark("end");
          to.mark("very end");
        }
        if (media?.chunk === "5") {
          to.receive("clear");
          to.play(20);
          to.mark("after");
        }
      }),
    );
    expect(marksOf(socket)).toEqual([
      ["end", 100],
      ["very end", 100],
      ["after", 100],
    ]);
    expect(audio?.played).toMatchObject([
      { from_ms: 0, to_ms: 100, end: "cut" },
      { from_ms: 100, to_ms: 120, end: "played" },
    ]);
    expect(call.history.find(({ type }) => type === "cut")).toMatchObject({
      by: "clear",
      samples: 7_200,
    });
  });

  it("sends each key that the callee presses", async () => {
    const { socket } = await streamed(closeAfter(40), streamTo(), {
      callee: [
        { type: "until", ms: 100 },
        { type: "press", digits: "4#" },
      ],
    });
    const keys = socket.sent.filter(({ event }) => event === "dtmf");
    expect(keys).toMatchObject([
      { dtmf: { track: "inbound_track", digit: "4" } },
      { dtmf: { track: "inbound_track", digit: "#" } },
    ]);
  });

  it("counts messages that it can't read, and names events that it doesn't know", async () => {
    const { call } = await streamed(
      closeAfter(2, ({ event }, to) => {
        if (event !== "start") return;
        to.receive("media", { media: { payload: "no base64!" } });
        to.receive("media", {});
        to.receive("mark", {});
        to.receive("clear", { streamSid: "MZ0" });
        to.receive("hello");
        to.receiveText("{");
      }),
    );
    expect(streamEntry(call)).toMatchObject({
      state: "closed",
      received: 6,
      malformed: [
        "media.payload must be base64",
        "media.payload must be base64",
        "mark.name must be a string",
        "streamSid must be the stream's",
        "must be JSON",
      ],
      ignored: ["hello"],
    });
  });

  it("goes on with action, or with the next verb, once the application has closed", async () => {
    const { origin, at } = await startApplication({
      "/after": "<Response><Say>Bye</Say></Response>",
    });
    const stream = '<Stream url="wss://app.example/media"/>';
    const acted = await streamed(
      closeAfter(1),
      `<Response><Connect action="${origin}/after">${stream}</Connect><Hangup/></Response>`,
    );
    expect(verbsOf(acted.call)).toEqual(["Stream", "Say 500"]);
    expect(at("/after")).toMatchObject([{ CallStatus: "in-progress" }]);
    const next = await streamed(
      closeAfter(1),
      `<Response><Connect>${stream}</Connect><Say>Bye</Say></Response>`,
    );
    expect(verbsOf(next.call)).toEqual(["Stream", "Say 500"]);
  });

  it("drops the query of its URL, and signs the handshake", async () => {
    const document =
      '<Response><Connect><Stream url="wss://app.example/media?a=1#b"/></Connect></Response>';
    const { socket } = await streamed(closeAfter(1), document);
    expect(socket.url).toBe("wss://app.example/media");
    const signature = socket.headers?.["X-Twilio-Signature"] ?? "";
    expect(twilio.validateRequest(authToken, signature, socket.url, {})).toBe(true);
  });

  it("tells its statusCallback that it has started and stopped", async () => {
    const { origin, at } = await startApplication();
    const document = streamTo("", ` name="mine" statusCallback="${origin}/stream"`);
    const { socket } = await streamed(closeAfter(2), document);
    const { streamSid: StreamSid } = socket.sent[1] ?? {};
    expect(at("/stream")).toMatchObject([
      { StreamEvent: "stream-started", StreamSid, StreamName: "mine", AccountSid: accountSid },
      { StreamEvent: "stream-stopped", StreamSid, StreamName: "mine" },
    ]);
  });

  it.each([
    ["https://app.example/media", "", "Stream.url must be wss", 31922],
    ["ws://app.example/media", "", "Stream.url must be wss", 31922],
    ["/media", "", "Stream.url must be wss", 31922],
    ["wss://app.example/media", ' track="both_tracks"', "Stream.track is both_tracks", 31932],
  ])("is refused at %s%s", async (url, attributes, words, code) => {
    const { call } = await follow(
      `<Response><Connect><Stream url="${url}"${attributes}/></Connect></Response>`,
    );
    const error = call.history.find(({ type }) => type === "flow_error");
    expect(error).toMatchObject({ message: `step 1: ${words}`, code });
  });
});

describe("Start/Stream", () => {
  const started = (attributes: string, rest = '<Pause length="1"/>') =>
    `<Response><Start><Stream url="wss://app.example/media"${attributes}/></Start>${rest}</Response>`;

  it("streams both tracks while the flow goes on, and takes nothing from the application", async () => {
    const { socket, call, audio } = await streamed(
      ({ event }, to) => {
        if (event === "start") to.play(100);
      },
      started(' track="both_tracks"', "<Say>Good evening, and thank you for waiting</Say>"),
    );
    // The flow does not wait until the socket is open.
    expect([...verbsOf(call)].sort()).toEqual(["Say 2535", "Stream"]);
    expect(socket.sent[1]).toMatchObject({ start: { tracks: ["inbound", "outbound"] } });
    const tracks = (track: string) => mediaOf(socket).filter((one) => one.track === track);
    expect(tracks("inbound").length).toBe(tracks("outbound").length);
    expect(tracks("outbound").length).toBeGreaterThan(100);
    const loud = tracks("outbound").filter(
      ({ payload }) => Math.max(...decodeMulaw(Buffer.from(payload, "base64"))) > 1_000,
    );
    expect(loud.length).toBeGreaterThan(100);
    expect(audio?.played).toEqual([]);
    expect(streamEntry(call)).toMatchObject({ state: "closed", ignored: ["media"] });
    expect(socket.sent.at(-1)?.event).toBe("stop");
  });

  it("ends with Stop, by its name", async () => {
    const rest = '<Pause length="1"/><Stop><Stream name="mine"/></Stop><Pause length="4"/>';
    const { socket, call } = await streamed(() => {}, started(' name="mine"', rest));
    const last = Number(mediaOf(socket).at(-1)?.timestamp);
    expect(last).toBeGreaterThan(900);
    expect(last).toBeLessThan(1_100);
    expect(socket.sent.at(-1)?.event).toBe("stop");
    expect(call.duration).toBe(5);
  });

  it("that fails is in the history, and the flow goes on", async () => {
    const { call } = await follow(
      '<Response><Start><Stream url="http://app.example/"/></Start><Say>Hello</Say></Response>',
    );
    expect(call).toMatchObject({ state: "completed", reason: "normal" });
    expect(call.history.find(({ type }) => type === "flow_error")).toMatchObject({ code: 31922 });
  });

  it("with a callee who presses keys performs each act once", async () => {
    const { origin, at } = await startApplication({
      "/digits": "<Response><Pause length='1'/></Response>",
    });
    const gather = `<Gather numDigits="2" timeout="3" action="${origin}/digits"/>`;
    const { socket } = await streamed(() => {}, started("", gather), {
      callee: [
        { type: "until", ms: 500 },
        { type: "press", digits: "12" },
      ],
    });
    expect(socket.sent.flatMap(({ dtmf }) => (dtmf ? [dtmf.digit] : []))).toEqual(["1", "2"]);
    expect(at("/digits")).toMatchObject([{ Digits: "12" }]);
  });
});

it("over a real socket, by the real clock: the echo of ws, the handshake verified", async () => {
  const app = express();
  const { origin, server } = await listen(app);
  const sockets = new WebSocketServer({ server, path: "/media" });
  onTestFinished(() => sockets.close());
  const url = `${origin.replace("http", "ws")}/media`;
  let isSigned = false;
  let echoed = 0;
  const marked: string[] = [];
  sockets.on("connection", (socket, request) => {
    isSigned = twilio.validateRequest(
      authToken,
      String(request.headers["x-twilio-signature"]),
      url,
      {},
    );
    socket.on("message", (data) => {
      const { event, streamSid, media, mark } = JSON.parse(String(data));
      if (event === "media" && echoed++ < 10) {
        const { payload } = media;
        socket.send(JSON.stringify({ event: "media", streamSid, media: { payload } }));
        if (echoed === 10)
          socket.send(JSON.stringify({ event: "mark", streamSid, mark: { name: "echoed" } }));
      }
      if (event === "mark") {
        marked.push(mark.name);
        socket.close();
      }
    });
  });
  const twiml = `<Response><Connect><Stream url="${url}"/></Connect></Response>`;
  const { emulator, client } = await startTwilio({ clock: "real", ringDuration: 0 });
  const { sid } = await client.calls.create({ from, to: answering, twiml });
  const { reason, flow_error } = await emulator.ended(sid);
  expect([reason, flow_error, isSigned, marked]).toEqual(["normal", undefined, true, ["echoed"]]);
  const total = emulator.audio(sid)?.played.reduce((sum, { samples }) => sum + samples, 0);
  expect(total).toBe(1_600);
});
