import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { decodeMulaw, encodeMulaw } from "../../src/lib/mulaw.ts";
import { markupCarriers } from "./carriers.ts";
import { type CallOptions, called, streamed as streamedWith } from "./markup.ts";
import { closeAfter, type MediaSocket, marksOf, mediaOf, type OnMessage } from "./media-socket.ts";
import { listenForSockets, streamOf, verbsOf } from "./stage.ts";

const onStart =
  (then: (socket: MediaSocket) => void): OnMessage =>
  ({ event }, socket) => {
    if (event === "start") then(socket);
  };

describe.each(markupCarriers)("$name", (carrier) => {
  const { attributes, bothTracks, address, idOf, numberOf, ...media } = carrier.media;

  const streamTo = (inside = "", more = "", url = "wss://app.example/media") =>
    `<Response><Connect><Stream url="${url}" ${attributes}${more}>${inside}</Stream></Connect></Response>`;

  const streamed = (onMessage: OnMessage, document = streamTo(), options: CallOptions = {}) =>
    streamedWith(carrier, onMessage, document, options);

  describe("Connect/Stream", () => {
    it("begins with connected and start, goes on with 20 ms of μ-law, and ends with stop", async () => {
      const parameters = { who: "Ann & Bob", n: "2" };
      const elements = Object.entries(parameters).map(
        ([name, value]) => `<Parameter name="${name}" value="${value.replace("&", "&amp;")}"/>`,
      );
      const { call, socket } = await streamed(() => {}, streamTo(elements.join("")), {
        callee: [{ type: "silence", ms: 100 }, { type: "hangup" }],
      });
      const [connected, start, first] = socket.sent;
      const id = (start && idOf(start)) ?? "";
      expect(id).toMatch(media.id);
      expect(connected).toEqual(media.connected);
      expect(start).toEqual({ event: "start", ...media.start(call, id, parameters) });
      const payload = Buffer.from(encodeMulaw(new Int16Array(160))).toString("base64");
      expect(mediaOf(socket)).toEqual(
        [0, 20, 40, 60].map((ms, index) => ({
          ...{ track: "inbound", chunk: String(index + 1), timestamp: String(ms), payload },
        })),
      );
      expect([first?.event, first && idOf(first)]).toEqual(["media", id]);
      const numbers = socket.sent.slice(1).map(numberOf);
      expect(numbers).toEqual(numbers.map((_, index) => String(index + 1)));
      const number = String(socket.sent.length - 1);
      expect(socket.sent.at(-1)).toEqual({ event: "stop", ...media.stop(call, number, id) });
      expect(socket.closed).toBe(1);
    });

    it("has the callee's audio, and plays the application's", async () => {
      const samples = Int16Array.from({ length: 800 }, (_, at) => 50 * (at % 200));
      const play = onStart((to) => to.play(100));
      const callee: EmulatorOptions["callee"] = [
        { type: "silence", ms: 40 },
        { type: "say", audio: samples },
      ];
      const { socket, audio } = await streamed(closeAfter(20, play), streamTo(), { callee });
      const received = mediaOf(socket).map((one) =>
        decodeMulaw(Buffer.from(one.payload, "base64")),
      );
      const said = decodeMulaw(encodeMulaw(samples.subarray(0, 160)));
      expect(Array.from(received[2] ?? [])).toEqual(Array.from(said));
      const piece = { from_ms: 0, to_ms: 100, samples: 800, end: "played" };
      expect(audio?.played).toMatchObject([piece]);
      const played = audio?.samples("application").subarray(0, 800);
      expect(new Set(played)).toEqual(new Set(decodeMulaw(encodeMulaw(new Int16Array([1_000])))));
    });

    it("has all that the callee says, though the process is held up when it begins", async () => {
      const heldUp = onStart((to) => {
        to.play(20);
        for (const until = performance.now() + 300; performance.now() < until; );
      });
      const { socket, call, audio } = await streamed(closeAfter(20, heldUp), streamTo(), {
        clock: "real",
        ringDuration: 0,
        callee: [
          { type: "listen", ms: 20 },
          { type: "tone", hertz: 300, ms: 100 },
          { type: "silence", ms: 60_000 },
        ],
      });
      const opened = streamOf(call);
      const from_ms = opened?.type === "stream" ? opened.from_ms : 0;
      const recorded = audio?.samples("callee", from_ms, from_ms + 20 * 20) ?? new Int16Array();
      const sent = mediaOf(socket).map(({ payload }) => payload);
      expect(recorded.filter((sample) => sample > 1_000).length).toBeGreaterThan(300);
      const payload = Buffer.from(encodeMulaw(recorded)).toString("base64");
      expect(Buffer.concat(sent.map((one) => Buffer.from(one, "base64"))).toString("base64")).toBe(
        payload,
      );
    });

    it("gives marks back when all audio before them was played, at once where none is queued", async () => {
      const play = onStart((to) => {
        to.mark("nothing");
        to.play(50);
        to.mark("fifty");
        to.play(110);
        to.play(40);
        to.mark("two hundred");
        to.mark("again");
      });
      const { socket } = await streamed(closeAfter(20, play));
      expect(marksOf(socket)).toEqual([
        ["nothing", 0],
        ["fifty", 40],
        ["two hundred", 180],
        ["again", 180],
      ]);
      const numbers = socket.sent.slice(1).map(numberOf);
      expect(numbers).toEqual(numbers.map((_, index) => String(index + 1)));
    });

    it("clear drops what is queued, and gives all marks back at once", async () => {
      const { socket, audio, call } = await streamed(
        closeAfter(20, ({ event, media }, to) => {
          if (event === "start") {
            to.play(1_000);
            to.mark("end");
            to.mark("very end");
          }
          if (media?.chunk !== "5") return;
          to.receive("clear");
          to.play(20);
          to.mark("after");
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
      const cut = call.history.find(({ type }) => type === "cut");
      expect(cut).toMatchObject({ by: "clear", samples: 7_200 });
    });

    it("sends each key that the callee presses", async () => {
      const { socket } = await streamed(closeAfter(40), streamTo(), {
        callee: [
          { type: "until", ms: 100 },
          { type: "press", digits: "4#" },
        ],
      });
      const keys = socket.sent.filter(({ event }) => event === "dtmf");
      expect(keys.map(({ dtmf }) => dtmf)).toEqual(["4", "#"].map(media.key));
    });

    it("goes on with the next verb once the application has closed", async () => {
      const document = streamTo().replace("</Response>", "<Say>Bye</Say></Response>");
      const { call } = await streamed(closeAfter(1), document);
      expect(verbsOf(call)).toEqual(["Stream", "Say 500"]);
    });

    it("notifies its statusCallback that it has started and stopped", async () => {
      const { origin, at } = await carrier.startApplication();
      const document = streamTo("", ` name="mine" statusCallback="${origin}/stream"`);
      const { socket } = await streamed(closeAfter(2), document);
      const StreamSid = idOf(socket.sent[1] ?? { event: "none" });
      expect(at("/stream")).toMatchObject([
        { StreamEvent: "stream-started", StreamSid, StreamName: "mine" },
        { StreamEvent: "stream-stopped", StreamSid, StreamName: "mine" },
      ]);
    });

    it.each(["https://app.example/media", "ws://app.example/media", "/media"])(
      "is refused at %s",
      async (url) => {
        const { call } = await called(carrier, { document: streamTo("", "", url) });
        expect(call.flow_error).toBe("step 1: Stream.url must be wss");
      },
    );

    it.each([
      ["wss://app.example/media", /could not be opened; .*--forward-to$/],
      ["ws://127.0.0.1:9/media", /could not be opened$/],
    ])("that could not be opened at %s says what may help", async (url, message) => {
      const WebSocket = class extends EventTarget {
        constructor() {
          super();
          queueMicrotask(() => this.dispatchEvent(new Event("error")));
        }
        close(): void {}
      } as unknown as NonNullable<EmulatorOptions["WebSocket"]>;
      const { call } = await called(carrier, { document: streamTo("", "", url) }, { WebSocket });
      expect(call.flow_error).toMatch(message);
    });
  });

  describe("Start/Stream", () => {
    const started = (rest: string, more = attributes) =>
      `<Response><Start><Stream url="wss://app.example/media" ${more}/></Start>${rest}</Response>`;

    it("streams both tracks while the flow goes on", async () => {
      const say = "<Say>Good evening, and thank you for waiting</Say>";
      const { socket, call } = await streamed(() => {}, started(say, bothTracks));
      // The flow does not wait until the socket is open.
      expect([...verbsOf(call)].sort()).toEqual(["Say 2535", "Stream"]);
      const tracks = (track: string) => mediaOf(socket).filter((one) => one.track === track);
      expect(tracks("inbound").length).toBe(tracks("outbound").length);
      const loud = tracks("outbound").filter(
        ({ payload }) => Math.max(...decodeMulaw(Buffer.from(payload, "base64"))) > 1_000,
      );
      expect(loud.length).toBeGreaterThan(100);
      expect(streamOf(call)).toMatchObject({ state: "closed", malformed: [] });
      expect(socket.sent.at(-1)?.event).toBe("stop");
    });

    it("ends with Stop", async () => {
      const rest = `<Pause length="1"/><Stop>${media.stopElement}</Stop><Pause length="4"/>`;
      const { socket, call } = await streamed(() => {}, started(rest, `${attributes} name="mine"`));
      const last = Number(mediaOf(socket).at(-1)?.timestamp);
      expect(last).toBeGreaterThan(900);
      expect(last).toBeLessThan(1_100);
      expect(socket.sent.at(-1)?.event).toBe("stop");
      expect(call.duration).toBe(5);
    });
  });

  it("over a real socket, by the real clock: the echo of ws, the handshake verified", async () => {
    let isSigned = false;
    let echoed = 0;
    const marked: string[] = [];
    const url = await listenForSockets((socket, _, { headers }) => {
      isSigned = media.isHandshake(url, headers);
      socket.on("message", (data) => {
        const message = JSON.parse(String(data));
        const send = (fields: object) =>
          socket.send(JSON.stringify({ ...address([message]), ...fields }));
        if (message.event === "media" && echoed++ < 10) {
          const { payload } = message.media;
          send({ event: "media", media: { payload } });
          if (echoed === 10) send({ event: "mark", mark: { name: "echoed" } });
        }
        if (message.event === "mark") {
          marked.push(message.mark.name);
          socket.close();
        }
      });
    });
    const document = streamTo("", "", url);
    const options = { clock: "real", ringDuration: 0 } as const;
    const { emulator, call } = await called(carrier, { document }, options);
    const { reason, flow_error } = call;
    expect([reason, flow_error, isSigned, marked]).toEqual(["normal", undefined, true, ["echoed"]]);
    const total = emulator.audio(call.id)?.played.reduce((sum, { samples }) => sum + samples, 0);
    expect(total).toBe(1_600);
  });
});
