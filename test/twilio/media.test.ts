import { describe, expect, it } from "vitest";
import { type CallOptions, streamed as streamedWith } from "../carriers/markup.ts";
import { closeAfter, type OnMessage } from "../carriers/media-socket.ts";
import { streamOf, verbsOf } from "../carriers/stage.ts";
import { carrier, follow, isSigned, startApplication } from "./stage.ts";

const stream = '<Stream url="wss://app.example/media"/>';

/** A call that is streamed to an application in this process, by the instant clock. */
const streamed = (
  onMessage: OnMessage,
  document = `<Response><Connect>${stream}</Connect></Response>`,
  options: CallOptions = {},
) => streamedWith(carrier, onMessage, document, options);

describe("Connect/Stream", () => {
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
    expect(streamOf(call)).toMatchObject({
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

  it("goes on with action once the application has closed", async () => {
    const { origin, at } = await startApplication({
      "/after": "<Response><Say>Bye</Say></Response>",
    });
    const { call } = await streamed(
      closeAfter(1),
      `<Response><Connect action="${origin}/after">${stream}</Connect><Hangup/></Response>`,
    );
    expect(verbsOf(call)).toEqual(["Stream", "Say 500"]);
    expect(at("/after")).toMatchObject([{ CallStatus: "in-progress" }]);
  });

  it("drops the query of its URL, and signs the handshake", async () => {
    const document = `<Response><Connect>${stream.replace("media", "media?a=1#b")}</Connect></Response>`;
    const { socket } = await streamed(closeAfter(1), document);
    expect(socket.url).toBe("wss://app.example/media");
    expect(isSigned({ url: socket.url, headers: socket.headers ?? {} })).toBe(true);
  });

  it.each([
    ["ws://app.example/media", "", "Stream.url must be wss", 31922],
    ["wss://app.example/media", ' track="both_tracks"', "Stream.track is both_tracks", 31932],
  ])("is refused at %s%s with Twilio's code", async (url, attributes, words, code) => {
    const { call } = await follow(
      `<Response><Connect><Stream url="${url}"${attributes}/></Connect></Response>`,
    );
    const error = call.history.find(({ type }) => type === "flow_error");
    expect(error).toMatchObject({ message: `step 1: ${words}`, code });
  });
});

describe("Start/Stream", () => {
  it("has the tracks in its start, and takes nothing from the application", async () => {
    const both = stream.replace("/>", ' track="both_tracks"/>');
    const document = `<Response><Start>${both}</Start><Pause length="1"/></Response>`;
    const { socket, call, audio } = await streamed(({ event }, to) => {
      if (event === "start") to.play(100);
    }, document);
    expect(socket.sent[1]).toMatchObject({ start: { tracks: ["inbound", "outbound"] } });
    expect(audio?.played).toEqual([]);
    expect(streamOf(call)).toMatchObject({ ignored: ["media"] });
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
    const document = `<Response><Start>${stream}</Start>${gather}</Response>`;
    const { socket } = await streamed(() => {}, document, {
      callee: [
        { type: "until", ms: 500 },
        { type: "press", digits: "12" },
      ],
    });
    expect(socket.sent.flatMap(({ dtmf }) => (dtmf ? [dtmf.digit] : []))).toEqual(["1", "2"]);
    expect(at("/digits")).toMatchObject([{ Digits: "12" }]);
  });
});
