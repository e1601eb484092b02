import { describe, expect, it } from "vitest";
import { type CallOptions, streamed as streamedWith } from "../carriers/markup.ts";
import { closeAfter, type MediaSocket, type OnMessage } from "../carriers/media-socket.ts";
import { streamOf, verbsOf } from "../carriers/stage.ts";
import { carrier, follow } from "./stage.ts";

const rtp = carrier.media.attributes;

const streamTo = (attributes = rtp, url = "wss://app.example/media") =>
  `<Response><Connect><Stream url="${url}" ${attributes}/></Connect></Response>`;

/** A call that is streamed to an application in this process, by the instant clock. */
const streamed = (onMessage: OnMessage, document = streamTo(), options: CallOptions = {}) =>
  streamedWith(carrier, onMessage, document, options);

const onStart =
  (then: (socket: MediaSocket) => void): OnMessage =>
  ({ event }, socket) => {
    if (event === "start") then(socket);
  };

describe("Connect/Stream", () => {
  it("sends a key with its time", async () => {
    const { socket, call } = await streamed(closeAfter(40), streamTo(), {
      callee: [
        { type: "until", ms: 100 },
        { type: "press", digits: "4" },
      ],
    });
    const key = socket.sent.find(({ event }) => event === "dtmf");
    const pressed = Date.parse(key?.occurred_at ?? "") - (call.answered_at ?? 0);
    expect(pressed).toBeGreaterThanOrEqual(100);
  });

  it("answers what it can't read with an error, and names events that it doesn't know", async () => {
    const send = onStart((to) => {
      to.receive("media", { media: { payload: "no base64!" } });
      to.receiveText("{");
      to.receive("hello");
    });
    const { socket, call } = await streamed(closeAfter(2, send));
    const errors = socket.sent.filter(({ event }) => event === "error");
    expect(errors.map(({ payload }) => [payload?.code, payload?.title])).toEqual([
      [100_004, "invalid_media"],
      [100_003, "malformed_frame"],
    ]);
    expect(streamOf(call)).toMatchObject({
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
    expect(streamOf(call)).toMatchObject({ malformed: [words] });
    expect(audio?.played).toEqual([]);
  });

  it("keeps the query of its URL, has no signature, and has no action", async () => {
    const url = "wss://app.example/media?a=1";
    const document = streamTo(`${rtp} enableReconnect="false"`, url)
      .replace("<Connect>", '<Connect action="/never">')
      .replace("</Response>", "<Say>Bye</Say></Response>");
    const { socket, call } = await streamed(closeAfter(1), document);
    expect([socket.url, socket.headers]).toEqual([url, undefined]);
    expect(verbsOf(call)).toEqual(["Stream", "Say 500"]);
    const flow = call.history.find(({ type }) => type === "flow");
    expect(flow).toMatchObject({ unknown_fields: ["Connect.action"] });
  });

  it.each([
    ['track="both"', "Stream.track is both"],
    ['codec="G722"', "Stream.codec is G722: only PCMU is emulated"],
    [
      'bidirectionalMode="rtp" bidirectionalCodec="OPUS"',
      "Stream.bidirectionalCodec is OPUS at 8000 Hz: only PCMU at 8000 Hz is emulated",
    ],
  ])("is refused with %s", async (attributes, words) => {
    const { call } = await follow(streamTo(attributes));
    expect(call.flow_error).toBe(`step 1: ${words}`);
  });
});
