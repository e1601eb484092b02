import alawmulaw from "alawmulaw";
import { array, assert, int16Array, integer, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { mediaCodec } from "../../../src/carriers/telnyx/media.ts";
import { encodeMulaw } from "../../../src/lib/mulaw.ts";
import {
  call_control_id,
  connected,
  dtmf,
  error,
  mark,
  media,
  start,
  startWith,
  stop,
  stream_id,
} from "./stream.ts";

const started = () => {
  const codec = mediaCodec();
  const decode = (message: unknown) => codec.decode(JSON.stringify(message));
  decode(start);
  return { ...codec, decode, flush: () => codec.flush?.() ?? [] };
};

describe("a message of Telnyx's", () => {
  test("start says which call it is, and brings the query of the ws_url", () => {
    const given = startWith({ "outdial.0": "a=b&outd", "outdial.1": "ial=1.e30.mac", mine: "17" });
    expect(mediaCodec().decode(JSON.stringify(given))).toEqual({
      type: "start",
      token: "a=b&outdial=1.e30.mac",
      start: {
        type: "start",
        account_id: start.start.user_id,
        call_id: call_control_id,
        stream_id,
        message_id: 1,
        data: { encoding: "audio/l16", sample_rate: 8000, channels: 1 },
      },
    });
    const { custom_parameters: _, ...bare } = start.start;
    expect(mediaCodec().decode(JSON.stringify({ ...start, start: bare }))).toMatchObject({
      token: undefined,
    });
  });

  test.each([{ "outdial.0": { MARKED: 1 } }, { "outdial.0": "M".repeat(2084) }])(
    "a start whose parameters nobody signed brings a query that is refused: %#",
    (parameters) => {
      const given = JSON.stringify(startWith(parameters));
      expect(mediaCodec().decode(given)).toMatchObject({ type: "start", token: "" });
    },
  );

  test("media is 16-bit samples of the callee, and of the other track it isn't", () => {
    const { decode } = started();
    const codes = Uint8Array.from({ length: 160 }, (_, at) => at);
    const message = media(Buffer.from(codes).toString("base64"));
    const input = decode(message);
    expect(input.type === "audio" && new Int16Array(input.bytes.buffer)).toEqual(
      alawmulaw.mulaw.decode(codes),
    );
    expect(decode({ ...message, media: { ...message.media, track: "outbound" } }).type).toBe(
      "other",
    );
  });

  test("mark says up to where audio was played, and stop that the stream is over", () => {
    const { decode } = started();
    expect(decode(mark("17"))).toEqual({ type: "played", mark: "17" });
    expect(decode(stop)).toEqual({ type: "stop" });
  });

  test.each([connected, error])("%j comes as it is", (message) => {
    expect(started().decode(message)).toEqual({
      type: "other",
      message: { ...message, type: message.event },
    });
  });

  test("dtmf is a key that the callee has pressed", () => {
    expect(started().decode(dtmf)).toEqual({ type: "key", key: "1" });
    const other = { ...dtmf, stream_id: "MARKED" };
    expect(() => started().decode(other)).toThrow("stream_id is another");
  });

  const format = start.start.media_format;
  const withFormat = (more: object) => ({
    ...start,
    start: { ...start.start, media_format: { ...format, ...more } },
  });
  test.each<[object, string]>([
    [withFormat({ encoding: "G722" }), "start.media_format.encoding must be PCMU"],
    [withFormat({ sample_rate: 16_000 }), "start.media_format.sample_rate must be 8000"],
    [
      { ...start, start: { ...start.start, call_control_id: undefined } },
      "start.call_control_id is missing",
    ],
    [{ ...start, stream_id: 7 }, "stream_id must be a string of at most 1000 characters"],
    [{ ...media("//8="), stream_id: "MARKED" }, "stream_id is another"],
    [media("A"), "media.payload isn't base64"],
  ])("that is malformed is refused by its rule, never with its value: %#", (message, rule) => {
    expect(() => started().decode(message)).toThrow(
      expect.objectContaining({ name: "FrameException", message: rule }),
    );
  });
});

const parsed = (messages: readonly unknown[]) =>
  messages.map((message) => JSON.parse(String(message)));

const payloads = (messages: readonly unknown[]) =>
  parsed(messages).map(({ media }) => Buffer.from(media.payload, "base64"));

describe("a message to Telnyx", () => {
  test("has its event and what belongs to it, without the stream's id", () => {
    const { audio, mark: ask, clear } = started();
    const sent = [...audio(new Uint8Array(320), "1"), ...(ask?.("1") ?? []), ...clear()];
    expect(parsed(sent)).toEqual([
      { event: "media", media: { payload: Buffer.alloc(160, 0xff).toString("base64") } },
      { event: "mark", mark: { name: "1" } },
      { event: "clear" },
    ]);
  });

  test("of audio has 20 ms or a multiple: the rest waits, and is padded with silence", () => {
    const { audio, flush } = started();
    expect(audio(new Uint8Array(318), "1")).toEqual([]);
    expect(payloads(audio(new Uint8Array(324), "2")).map(({ length }) => length)).toEqual([320]);
    expect(payloads(flush())).toEqual([Buffer.alloc(160, 0xff)]);
    expect(flush()).toEqual([]);
  });

  test("what was kept is dropped by clear", () => {
    const { audio, clear, flush } = started();
    audio(new Uint8Array(100), "1");
    clear();
    expect(flush()).toEqual([]);
  });

  test("however audio is cut, and wherever it lies in a buffer, its μ-law is the same", () => {
    assert(
      property(
        int16Array({ minLength: 1, maxLength: 700 }),
        array(integer({ min: 0, max: 700 })),
        integer({ min: 0, max: 1 }),
        (samples, cuts, offset) => {
          const { audio, flush } = started();
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
          const sent = payloads([...messages, ...flush()]);
          for (const { length } of sent) expect([length > 0, length % 160]).toEqual([true, 0]);
          const codes = Buffer.concat(sent);
          expect(codes.subarray(0, samples.length)).toEqual(Buffer.from(encodeMulaw(samples)));
          expect(codes.subarray(samples.length).every((code) => code === 0xff)).toBe(true);
        },
      ),
    );
  });
});
