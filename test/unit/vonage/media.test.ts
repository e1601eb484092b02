import { array, assert, integer, property, uint8Array } from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { mediaCodec, mediaSide } from "../../../src/carriers/vonage/media.ts";
import { FrameException } from "../../../src/flows/media/messages.ts";
import { streamSession } from "../../../src/flows/media/session.ts";
import { applicationId } from "./service.ts";

const call_id = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab";
const connected = (rate: number, more: object = { call_id }) => ({
  event: "websocket:connected",
  "content-type": `audio/l16;rate=${rate}`,
  ...more,
});

const started = (rate = 8000) => {
  const codec = mediaCodec(applicationId);
  const decode = (message: object) => codec.decode(JSON.stringify(message));
  decode(connected(rate));
  return { ...codec, decode, decodeBytes: codec.decode };
};

describe("a message of Vonage's", () => {
  test.each([8000, 16_000])("websocket:connected at %i Hz starts the stream", (rate) => {
    expect(mediaCodec(applicationId).decode(JSON.stringify(connected(rate)))).toEqual({
      type: "start",
      start: {
        type: "start",
        account_id: applicationId,
        call_id,
        stream_id: expect.stringMatching(/^[\da-f-]{36}$/),
        message_id: 1,
        data: { encoding: "audio/l16", sample_rate: rate, channels: 1 },
      },
    });
  });

  test.each([{}, { call_id: 7 }, { call_id: "x".repeat(1001) }])(
    "without the id that stream() has put there, as with %j, it is empty",
    (more) => {
      const input = mediaCodec(applicationId).decode(JSON.stringify(connected(8000, more)));
      expect(input).toMatchObject({ type: "start", start: { call_id: "" } });
    },
  );

  test.each([
    "audio/l16;rate=24000",
    "audio/l16",
    "audio/x-mulaw;rate=8000",
    "audio/l16;rate=80000",
    undefined,
  ])("content-type %s is refused", (type) => {
    const message = JSON.stringify({ ...connected(8000), "content-type": type });
    expect(() => mediaCodec(applicationId).decode(message)).toThrow(
      "content-type must be audio/l16;rate=8000 or audio/l16;rate=16000",
    );
  });

  test("binary is 16-bit samples of the callee, in a buffer of any kind", () => {
    const samples = Int16Array.from({ length: 160 }, (_, at) => at * 200 - 16_000);
    const shared = new Uint8Array(321);
    shared.set(new Uint8Array(samples.buffer), 1);
    for (const data of [samples.buffer, Buffer.from(samples.buffer), shared.subarray(1)]) {
      const input = started().decodeBytes(data);
      expect(input.type === "audio" && new Int16Array(input.bytes.buffer)).toEqual(samples);
    }
  });

  test("a notify of ours says up to where audio was played", () => {
    expect(started().decode({ event: "websocket:notify", payload: { mark: "17" } })).toEqual({
      type: "played",
      mark: "17",
    });
  });

  test.each([
    { event: "websocket:cleared" },
    { event: "websocket:notify", payload: { of: "the application" } },
    { event: "websocket:notify" },
    { event: "new", payload: { mark: "17" } },
  ])("%j comes as it is", (message) => {
    expect(started().decode(message)).toEqual({
      type: "other",
      message: { ...message, type: message.event },
    });
  });

  test("websocket:dtmf is a key that the callee has pressed, once the stream has started", () => {
    const pressed = (digit: unknown) => ({ event: "websocket:dtmf", digit, duration: 260 });
    expect(started().decode(pressed("5"))).toEqual({ type: "key", key: "5" });
    for (const digit of ["MARKED", 5, "12"]) {
      expect(() => started().decode(pressed(digit))).toThrow(
        new FrameException("digit must be a key: 0 to 9, A to D, * or #"),
      );
    }
    expect(() => mediaCodec(applicationId).decode(JSON.stringify(pressed("5")))).toThrow(
      new FrameException("A key came before websocket:connected"),
    );
  });

  test.each<[unknown, string]>([
    [new ArrayBuffer(3), "The audio ends within a sample"],
    ["{", "The message isn't JSON"],
    ["7", "The message must have an event"],
    ['{"event":7}', "The message must have an event"],
    [7, "The message isn't text"],
  ])("%j is refused by its rule", (data, rule) => {
    expect(() => started().decodeBytes(data)).toThrow(rule);
  });

  test("audio before websocket:connected is refused", () => {
    const { decode } = mediaCodec(applicationId);
    expect(() => decode(new ArrayBuffer(320))).toThrow("Audio came before websocket:connected");
  });
});

const bytesOf = (messages: readonly (string | Uint8Array)[]): Uint8Array[] =>
  messages.map((message) =>
    typeof message === "string" ? expect.fail("text") : new Uint8Array(message),
  );

describe("audio for Vonage", () => {
  test("however it is cut, it goes out in frames of exactly 20 ms, the last one padded", () => {
    const pieces = array(uint8Array({ maxLength: 900 }), { maxLength: 8 });
    assert(
      property(pieces, integer({ min: 0, max: 1 }), (given, at) => {
        const rate = [8000, 16_000][at] ?? 8000;
        const whole = given.map((piece) => piece.slice(0, piece.length - (piece.length % 2)));
        const codec = started(rate);
        const frames = bytesOf([
          ...whole.flatMap((piece, id) => codec.audio(piece, String(id))),
          ...(codec.flush?.() ?? []),
        ]);
        const size = rate / 25;
        for (const frame of frames) expect(frame.length).toBe(size);
        const sent = Buffer.concat(whole);
        const padding = (size - (sent.length % size)) % size;
        expect(Buffer.concat(frames)).toEqual(Buffer.concat([sent, Buffer.alloc(padding)]));
        expect(codec.flush?.()).toEqual([]);
      }),
    );
  });

  test("a frame is a copy: what the caller does to its buffer later changes nothing", () => {
    const codec = started();
    const pcm = new Uint8Array(400).fill(1);
    const [frame] = bytesOf(codec.audio(pcm, "1"));
    pcm.fill(2);
    const [rest] = bytesOf(codec.flush?.() ?? []);
    expect([frame?.[0], rest?.[0], rest?.[79], rest?.[80]]).toEqual([1, 1, 1, 0]);
  });

  test("clear drops what was kept, too", () => {
    const codec = started();
    codec.audio(new Uint8Array(400).fill(1), "1");
    expect(codec.clear()).toEqual(['{"action":"clear"}']);
    expect(codec.flush?.()).toEqual([]);
    expect(bytesOf(codec.audio(new Uint8Array(320), "2"))).toEqual([new Uint8Array(320)]);
  });

  test("a mark is a notify with a payload", () => {
    expect(started().mark?.("17")).toEqual(['{"action":"notify","payload":{"mark":"17"}}']);
  });
});

/** An open socket, what was sent on it, and a message that comes. */
const socketOf = () => {
  const sent: (string | Uint8Array)[] = [];
  const socket = Object.assign(new EventTarget(), {
    readyState: 1,
    binaryType: "blob",
    send: (message: string | Uint8Array) => void sent.push(message),
    close: () => {},
  });
  const receive = (data: unknown) =>
    void socket.dispatchEvent(new MessageEvent("message", { data }));
  return { socket, sent, receive };
};

describe("a session", () => {
  const service = { media: mediaSide(applicationId) };

  test("has the callee's audio, the call and the keys that are pressed", async () => {
    const { socket, receive } = socketOf();
    const heard: unknown[] = [];
    streamSession(
      socket,
      {
        onStart: (start) => heard.push(start.call_id),
        onAudio: ({ bytes, time }) => heard.push([bytes.length, time]),
        onKey: ({ key }) => heard.push(["key", key]),
        onMessage: ({ type }) => heard.push(type),
      },
      { service },
    );
    expect(socket.binaryType).toBe("arraybuffer");
    receive(JSON.stringify(connected(16_000)));
    receive(new ArrayBuffer(640));
    receive(new ArrayBuffer(640));
    receive(JSON.stringify({ event: "websocket:dtmf", digit: "5", duration: 260 }));
    await vi.waitFor(() => expect(heard).toHaveLength(4));
    expect(heard).toEqual([call_id, [640, 0], [640, 20], ["key", "5"]]);
  });

  test("sends whole frames, and the rest padded once nothing follows it", async () => {
    vi.useFakeTimers();
    try {
      const { socket, sent, receive } = socketOf();
      const session = streamSession(socket, {}, { service });
      receive(JSON.stringify(connected(8000)));
      await session.audio(new Uint8Array(1000).fill(1));
      expect(bytesOf(sent).map(({ length }) => length)).toEqual([320, 320, 320]);
      await vi.advanceTimersByTimeAsync(100);
      expect(bytesOf(sent)).toHaveLength(4);
      const last = new Uint8Array(320);
      last.fill(1, 0, 40);
      expect(bytesOf(sent)[3]).toEqual(last);
      session.clear();
      expect(sent.slice(4)).toEqual(['{"action":"clear"}']);
    } finally {
      vi.useRealTimers();
    }
  });

  test("refuses secret: the query of the ws_url comes with the URL", () => {
    const { socket } = socketOf();
    const options = { service, secret: "a secret that was made at random" };
    expect(() => streamSession(socket, {}, options)).toThrow(/^secret is for a service/);
  });
});
