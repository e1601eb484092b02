import alawmulaw from "alawmulaw";
import { array, assert, int16Array, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { mediaCodec } from "../../../src/carriers/twilio/media.ts";
import { FrameException } from "../../../src/flows/media/messages.ts";
import { encodeMulaw } from "../../../src/lib/mulaw.ts";
import { connected, dtmf, mark, media, start, stop } from "./stream.ts";

const started = () => {
  const codec = mediaCodec();
  const decode = (message: unknown) => codec.decode(JSON.stringify(message));
  decode(start);
  return { ...codec, decode };
};

describe("a message of Twilio's", () => {
  test("start says which call it is", () => {
    expect(mediaCodec().decode(JSON.stringify(start))).toEqual({
      type: "start",
      token: undefined,
      start: {
        type: "start",
        account_id: start.start.accountSid,
        call_id: start.start.callSid,
        stream_id: start.streamSid,
        message_id: 1,
        data: { encoding: "audio/l16", sample_rate: 8000, channels: 1 },
      },
    });
  });

  test("start of a stream without parameters, as older captures have it", () => {
    const { customParameters: _, ...older } = start.start;
    expect(mediaCodec().decode(JSON.stringify({ ...start, start: older }))).toMatchObject({
      type: "start",
      token: undefined,
    });
  });

  test("start brings the query of the ws_url in parts, in their order, and no other parameter", () => {
    const customParameters = {
      "outdial.10": "no",
      "outdial.1": "ial=1.e30.",
      "outdial.0": "a=b&outd",
      "outdial.2": "mac",
      customer: "17",
    };
    const given = { ...start, start: { ...start.start, customParameters } };
    expect(mediaCodec().decode(JSON.stringify(given))).toMatchObject({
      token: "a=b&outdial=1.e30.mac",
    });
  });

  test("media is 16-bit samples of the callee", () => {
    const codes = Uint8Array.from({ length: 160 }, (_, at) => at);
    const input = started().decode(media(Buffer.from(codes).toString("base64")));
    expect(input.type === "audio" && new Int16Array(input.bytes.buffer)).toEqual(
      alawmulaw.mulaw.decode(codes),
    );
  });

  test("another start leaves the stream as it was", () => {
    const { decode } = started();
    decode({ ...start, streamSid: "MZ1" });
    expect(decode(media("//8="))).toMatchObject({ type: "audio" });
  });

  test("mark says up to where audio was played, and stop that the stream is over", () => {
    const { decode } = started();
    expect(decode(mark("17"))).toEqual({ type: "played", mark: "17" });
    expect(decode(stop)).toEqual({ type: "stop" });
  });

  test.each([connected, { event: "new", anything: [1] }])("%j comes as it is", (message) => {
    expect(started().decode(message)).toEqual({
      type: "other",
      message: { ...message, type: message.event },
    });
  });

  test("dtmf is a key that the callee has pressed", () => {
    const pressed = (digit: string) => ({ ...dtmf, dtmf: { ...dtmf.dtmf, digit } });
    for (const key of "0123456789ABCD*#") {
      expect(started().decode(pressed(key))).toEqual({ type: "key", key });
    }
    for (const digit of ["MARKED", "12", "a", ""]) {
      expect(() => started().decode(pressed(digit))).toThrow(
        new FrameException("dtmf.digit must be a key: 0 to 9, A to D, * or #"),
      );
    }
    const other = { ...dtmf, streamSid: "MARKED" };
    expect(() => started().decode(other)).toThrow(new FrameException("streamSid is another"));
  });

  test("media of the other track isn't the callee", () => {
    const outbound = { ...media("//8="), media: { ...media("//8=").media, track: "outbound" } };
    expect(started().decode(outbound)).toMatchObject({ type: "other", message: outbound });
  });
});

describe("a malformed message is refused by its rule, never with its value", () => {
  const format = start.start.mediaFormat;
  const startWith = (more: object) => ({ ...start, start: { ...start.start, ...more } });
  test.each([
    [7, "The message must have an event"],
    [["MARKED"], "The message must have an event"],
    [{ event: 7 }, "The message must have an event"],
    [{ ...start, start: undefined }, "start is missing"],
    [startWith({ callSid: 7 }), "start.callSid must be a string of at most 1000 characters"],
    [
      startWith({ callSid: "C".repeat(1001) }),
      "start.callSid must be a string of at most 1000 characters",
    ],
    [startWith({ accountSid: undefined }), "start.accountSid is missing"],
    [{ ...start, streamSid: undefined }, "streamSid is missing"],
    [startWith({ mediaFormat: undefined }), "start.mediaFormat is missing"],
    [
      startWith({ mediaFormat: { ...format, encoding: "MARKED" } }),
      "start.mediaFormat.encoding must be audio/x-mulaw",
    ],
    [
      startWith({ mediaFormat: { ...format, sampleRate: 16_000 } }),
      "start.mediaFormat.sampleRate must be 8000",
    ],
    [
      startWith({ mediaFormat: { ...format, channels: "1" } }),
      "start.mediaFormat.channels must be 1",
    ],
  ])("%#: %j", (message, rule) => {
    expect(() => mediaCodec().decode(JSON.stringify(message))).toThrow(
      expect.objectContaining({ name: "FrameException", message: rule }),
    );
  });

  test.each([
    [{ ...media(""), media: undefined }, "media is missing"],
    [{ ...media(""), media: { payload: 7 } }, "media.payload must be base64 of at most 1 MiB"],
    [media("MARKED!"), "media.payload must be base64 of at most 1 MiB"],
    [media("A".repeat(2 ** 20 + 1)), "media.payload must be base64 of at most 1 MiB"],
    [media("A"), "media.payload isn't base64"],
    [{ ...media("//8="), streamSid: "MARKED" }, "streamSid is another"],
    [{ ...media("//8="), streamSid: undefined }, "streamSid is missing"],
    [{ ...mark(""), mark: {} }, "mark.name is missing"],
    [mark("M".repeat(1001)), "mark.name must be a string of at most 1000 characters"],
    [{ ...mark("1"), streamSid: "MARKED" }, "streamSid is another"],
    [{ ...stop, streamSid: "MARKED" }, "streamSid is another"],
  ])("after start, %#", (message, rule) => {
    expect(() => started().decode(message)).toThrow(
      expect.objectContaining({ name: "FrameException", message: rule }),
    );
  });

  test.each([
    ["{MARKED", "The message isn't JSON"],
    [new ArrayBuffer(2), "The message isn't text"],
    [" ".repeat(2 ** 20 + 4_097), "The message is too long"],
  ])("that is no JSON text, %#", (data, rule) => {
    expect(() => mediaCodec().decode(data)).toThrow(rule);
  });

  test("media before start", () => {
    expect(() => mediaCodec().decode(JSON.stringify(media("//8=")))).toThrow(
      "The stream has not started",
    );
  });
});

describe("a message to Twilio", () => {
  test("has so many samples for each byte of it", () => {
    const { audio, pcmPerByte } = started();
    const pcm = new Uint8Array(960_000);
    const [message] = audio(pcm, "1");
    expect(String(message).length * pcmPerByte).toBeCloseTo(pcm.length, -3);
  });

  test("has its event, the stream's id, and what belongs to it", () => {
    const { audio, mark: ask, clear } = started();
    const { streamSid } = start;
    const sent = [...audio(new Uint8Array(4), "1"), ...(ask?.("1") ?? []), ...clear()];
    expect(sent.map((message) => JSON.parse(String(message)))).toEqual([
      { event: "media", streamSid, media: { payload: "//8=" } },
      { event: "mark", streamSid, mark: { name: "1" } },
      { event: "clear", streamSid },
    ]);
  });

  const payloads = (messages: readonly unknown[]) =>
    Buffer.concat(
      messages.map((message) => Buffer.from(JSON.parse(String(message)).media.payload, "base64")),
    );

  test("however audio is cut, and wherever it lies in a buffer, its mu-law is the same", () => {
    const { audio } = started();
    assert(
      property(
        int16Array({ minLength: 1, maxLength: 400 }),
        array(integer({ min: 0, max: 400 })),
        integer({ min: 0, max: 1 }),
        (samples, cuts, offset) => {
          const bytes = new Uint8Array(samples.length * 2 + offset);
          bytes.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), offset);
          const pcm = bytes.subarray(offset);
          const ends = [...cuts.filter((cut) => cut < samples.length), samples.length];
          let from = 0;
          const messages = ends
            .toSorted((one, other) => one - other)
            .flatMap((end) => {
              const piece = pcm.subarray(from * 2, end * 2);
              from = end;
              return audio(piece, "1");
            });
          expect(payloads(messages)).toEqual(Buffer.from(encodeMulaw(samples)));
        },
      ),
    );
  });
});
