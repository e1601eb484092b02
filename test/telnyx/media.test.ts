import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import type { CallRecord, EmulatorOptions } from "../../src/emulator/index.ts";
import { decodeMulaw, encodeMulaw } from "../../src/lib/mulaw.ts";
import {
  closeAfter,
  type MediaMessage,
  type MediaSocket,
  marksOf,
  mediaOf,
  mediaSockets,
  type OnMessage,
} from "../markup/media-socket.ts";
import {
  answering,
  follow,
  from,
  listen,
  place,
  startApplication,
  startTelnyx,
  verbsOf,
} from "./stage.ts";

/** A message of Telnyx. */
interface Message extends MediaMessage {
  readonly sequence_number?: string;
  readonly stream_id?: string;
  readonly occurred_at?: string;
  readonly payload?: { readonly code: number; readonly title: string };
}

const rtp = 'bidirectionalMode="rtp" bidirectionalCodec="PCMU"';

const streamTo = (attributes = rtp, inside = "", url = "wss://app.example/media") =>
  `<Response><Connect><Stream url="${url}" ${attributes}>${inside}</Stream></Connect></Response>`;

/** A call that is streamed to an application in this process, by the instant clock. */
const streamed = async (
  onMessage: OnMessage<Message>,
  document = streamTo(),
  options: EmulatorOptions = {},
) => {
  const { sockets, WebSocket } = mediaSockets<Message>(onMessage);
  const { emulator, client } = await startTelnyx({ WebSocket, ...options });
  const sid = await place(client, { Texml: document });
  const call = await emulator.ended(sid);
  const [socket] = sockets;
  if (!socket) throw new Error(`no socket: ${call.flow_error}`);
  return { call, socket, emulator, audio: emulator.audio(sid) };
};

const streamEntry = ({ history }: CallRecord) => history.findLast(({ type }) => type === "stream");

const onStart =
  (then: (socket: MediaSocket<Message>) => void): OnMessage<Message> =>
  ({ event }, socket) => {
    if (event === "start") then(socket);
  };

describe("Connect/Stream", () => {
  it("begins with connected and start, goes on with 20 ms of PCMU, and ends with stop", async () => {
    const parameters = '<Parameter name="who" value="Ann &amp; Bob"/>';
    const { call, socket } = await streamed(() => {}, streamTo(rtp, parameters), {
      callee: [{ type: "silence", ms: 60 }, { type: "hangup" }],
    });
    const [connected, start, first] = socket.sent;
    const { stream_id } = start ?? {};
    expect(connected).toEqual({ event: "connected", version: "1.0.0" });
    expect(stream_id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(start).toEqual({
      event: "start",
      sequence_number: "1",
      start: {
        user_id: expect.any(String),
        call_control_id: call.id,
        call_session_id: expect.any(String),
        from,
        to: answering,
        tags: [],
        custom_parameters: { who: "Ann & Bob" },
        media_format: { encoding: "PCMU", sample_rate: 8_000, channels: 1 },
      },
      stream_id,
    });
    expect(first).toMatchObject({ event: "media", sequence_number: "2", stream_id });
    const payload = Buffer.from(encodeMulaw(new Int16Array(160))).toString("base64");
    expect(mediaOf(socket)).toEqual([
      { track: "inbound", chunk: "1", timestamp: "0", payload },
      { track: "inbound", chunk: "2", timestamp: "20", payload },
    ]);
    expect(socket.sent.at(-1)).toEqual({
      event: "stop",
      sequence_number: String(socket.sent.length - 1),
      stop: { user_id: expect.any(String), call_control_id: call.id },
      stream_id,
    });
  });

  it("has the callee's audio, and plays the application's", async () => {
    const samples = Int16Array.from({ length: 800 }, (_, at) => 50 * (at % 200));
    const { socket, audio } = await streamed(
      closeAfter(
        20,
        onStart((to) => to.play(100)),
      ),
      streamTo(),
      {
        callee: [
          { type: "silence", ms: 40 },
          { type: "say", audio: samples },
        ],
      },
    );
    const received = mediaOf(socket).map((one) => decodeMulaw(Buffer.from(one.payload, "base64")));
    const said = decodeMulaw(encodeMulaw(samples.subarray(0, 160)));
    expect(Array.from(received[2] ?? [])).toEqual(Array.from(said));
    expect(audio?.played).toMatchObject([{ from_ms: 0, to_ms: 100, samples: 800, end: "played" }]);
  });

  it("gives marks back when all audio before them was played, at once where none is queued", async () => {
    const { socket } = await streamed(
      closeAfter(
        20,
        onStart((to) => {
          to.mark("nothing");
          to.play(50);
          to.mark("fifty");
          to.play(150);
          to.mark("two hundred");
        }),
      ),
    );
    expect(marksOf(socket)).toEqual([
      ["nothing", 0],
      ["fifty", 40],
      ["two hundred", 180],
    ]);
    const numbers = socket.sent.slice(1).map(({ sequence_number }) => Number(sequence_number));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it("clear drops what is queued, and gives all marks back at once", async () => {
    const { socket, audio } = await streamed(
      closeAfter(20, ({ event, media }, to) => {
        if (event === "start") {
          to.play(1_000);
          to.mark("end");
        }
        if (media?.chunk !== "5") return;
        to.receive("clear");
        to.play(20);
        to.mark("after");
      }),
    );
    expect(marksOf(socket)).toEqual([
      ["end", 100],
      ["after", 100],
    ]);
    expect(audio?.played).toMatchObject([
      { from_ms: 0, to_ms: 100, end: "cut" },
      { from_ms: 100, to_ms: 120, end: "played" },
    ]);
  });

  it("sends each key that the callee presses, with its time", async () => {
    const { socket, call } = await streamed(closeAfter(40), streamTo(), {
      callee: [
        { type: "until", ms: 100 },
        { type: "press", digits: "4#" },
      ],
    });
    const keys = socket.sent.filter(({ event }) => event === "dtmf");
    expect(keys.map(({ dtmf }) => dtmf)).toEqual([{ digit: "4" }, { digit: "#" }]);
    const pressed = Date.parse(keys[0]?.occurred_at ?? "") - (call.answered_at ?? 0);
    expect(pressed).toBeGreaterThanOrEqual(100);
  });

  it("answers what it can't read with an error, and names events that it doesn't know", async () => {
    const { socket, call } = await streamed(
      closeAfter(
        2,
        onStart((to) => {
          to.receive("media", { media: { payload: "no base64!" } });
          to.receiveText("{");
          to.receive("hello");
        }),
      ),
    );
    const errors = socket.sent.filter(({ event }) => event === "error");
    expect(errors.map(({ payload }) => [payload?.code, payload?.title])).toEqual([
      [100_004, "invalid_media"],
      [100_003, "malformed_frame"],
    ]);
    expect(streamEntry(call)).toMatchObject({
      malformed: ["media.payload must be base64", "must be JSON"],
      ignored: ["hello"],
    });
  });

  it('plays no MP3, which is expected without bidirectionalMode="rtp"', async () => {
    const play = closeAfter(
      2,
      onStart((to) => to.play(20)),
    );
    const { call, audio } = await streamed(play, streamTo(""));
    const words = 'media is MP3 without bidirectionalMode="rtp", which is not emulated';
    expect(streamEntry(call)).toMatchObject({ malformed: [words] });
    expect(audio?.played).toEqual([]);
  });

  it("keeps the query of its URL, has no signature, and goes on once the application has closed", async () => {
    const url = "wss://app.example/media?a=1";
    const attributes = `${rtp} enableReconnect="false"`;
    const document = streamTo(attributes, "", url)
      .replace("<Connect>", '<Connect action="/never">')
      .replace("</Response>", "<Say>Bye</Say></Response>");
    const { socket, call } = await streamed(closeAfter(1), document);
    expect([socket.url, socket.headers]).toEqual([url, undefined]);
    expect(verbsOf(call)).toEqual(["Stream", "Say 500"]);
    // Telnyx's Connect has no action.
    const flow = call.history.find(({ type }) => type === "flow");
    expect(flow).toMatchObject({ unknown_fields: ["Connect.action"] });
  });

  it("notifies its statusCallback that it has started and stopped", async () => {
    const { origin, at } = await startApplication();
    const attributes = `${rtp} name="mine" statusCallback="${origin}/stream"`;
    const { socket } = await streamed(closeAfter(2), streamTo(attributes));
    const { stream_id: StreamSid } = socket.sent[1] ?? {};
    expect(at("/stream")).toMatchObject([
      { StreamEvent: "stream-started", StreamSid, StreamName: "mine" },
      { StreamEvent: "stream-stopped", StreamSid, StreamName: "mine" },
    ]);
  });

  it.each([
    ["https://app.example/media", rtp, "Stream.url must be wss"],
    ["ws://app.example/media", rtp, "Stream.url must be wss"],
    ["wss://app.example/media", 'track="both"', "Stream.track is both"],
    ["wss://app.example/media", 'codec="G722"', "Stream.codec is G722: only PCMU is emulated"],
    [
      "wss://app.example/media",
      'bidirectionalMode="rtp" bidirectionalCodec="OPUS"',
      "Stream.bidirectionalCodec is OPUS at 8000 Hz: only PCMU at 8000 Hz is emulated",
    ],
  ])("is refused at %s with %s", async (url, attributes, words) => {
    const { call } = await follow(streamTo(attributes, "", url));
    expect(call.flow_error).toBe(`step 1: ${words}`);
  });
});

describe("Start/Stream", () => {
  const started = (rest: string, attributes = rtp) =>
    `<Response><Start><Stream url="wss://app.example/media" ${attributes}/></Start>${rest}</Response>`;

  it("streams both tracks while the flow goes on", async () => {
    const document = started("<Say>Good evening to you</Say>", 'track="both_tracks"');
    const { socket, call } = await streamed(() => {}, document);
    expect([...verbsOf(call)].sort()).toEqual(["Say 1235", "Stream"]);
    const tracks = mediaOf(socket).map(({ track }) => track);
    expect(new Set(tracks)).toEqual(new Set(["inbound", "outbound"]));
    expect(socket.sent.at(-1)?.event).toBe("stop");
  });

  it("ends with Stop, which needs no name", async () => {
    const rest = '<Pause length="1"/><Stop><Stream/></Stop><Pause length="4"/>';
    const { socket, call } = await streamed(() => {}, started(rest));
    const last = Number(mediaOf(socket).at(-1)?.timestamp);
    expect(last).toBeGreaterThan(900);
    expect(last).toBeLessThan(1_100);
    expect(call.duration).toBe(5);
  });
});

it("over a real socket, by the real clock: the echo of ws", async () => {
  const server = createServer();
  const origin = await listen(server);
  const sockets = new WebSocketServer({ server, path: "/media" });
  onTestFinished(() => sockets.close());
  let echoed = 0;
  const marked: string[] = [];
  sockets.on("connection", (socket) => {
    socket.on("message", (data) => {
      const { event, media, mark } = JSON.parse(String(data));
      if (event === "media" && echoed++ < 5) {
        const { payload } = media;
        socket.send(JSON.stringify({ event: "media", media: { payload } }));
        if (echoed === 5) socket.send(JSON.stringify({ event: "mark", mark: { name: "echoed" } }));
      }
      if (event === "mark") {
        marked.push(mark.name);
        socket.close();
      }
    });
  });
  const url = `${origin.replace("http", "ws")}/media`;
  const { emulator, client } = await startTelnyx({ clock: "real", ringDuration: 0 });
  const sid = await place(client, { Texml: streamTo(rtp, "", url) });
  const { reason, flow_error } = await emulator.ended(sid);
  expect([reason, flow_error, marked]).toEqual(["normal", undefined, ["echoed"]]);
  const total = emulator.audio(sid)?.played.reduce((sum, { samples }) => sum + samples, 0);
  expect(total).toBe(800);
});
