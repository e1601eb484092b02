import { array, assert, integer, property } from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Cut } from "../../../../src/agents/agent.ts";
import { connectAgent } from "../../../../src/agents/session.ts";
import { BunSocket } from "../../../../src/flows/media/bun-socket.ts";
import type { MediaCodec } from "../../../../src/flows/media/carrier-media.ts";
import { carrierMedia } from "../../../../src/flows/media/carrier-stream.ts";
import { FrameException } from "../../../../src/flows/media/messages.ts";
import { streamSession } from "../../../../src/flows/media/session.ts";
import { joined } from "../../../../src/lib/encoding.ts";
import { plain, Socket } from "../../agents/talking.ts";
import { start } from "./start.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const frameSize = 320;

/** A carrier that takes binary frames of exactly 20 ms, and can only clear. */
const frameCodec = (): MediaCodec => {
  let rest = new Uint8Array();
  return {
    pcmPerByte: 1,
    decode: (data) => {
      if (typeof data !== "string") {
        return { type: "audio", bytes: new Uint8Array(data as ArrayBuffer) };
      }
      const { type } = JSON.parse(data);
      if (type === "start") return { type, start: { ...start, ...JSON.parse(data) } };
      if (type === "stop") return { type };
      if (type === "broken") throw new FrameException("broken");
      return { type: "other", message: { type } };
    },
    audio: (pcm) => {
      const all = joined([rest, pcm]);
      const whole = all.length - (all.length % frameSize);
      rest = all.slice(whole);
      return Array.from({ length: whole / frameSize }, (_, at) =>
        all.slice(at * frameSize, (at + 1) * frameSize),
      );
    },
    flush: () => {
      const last = joined([rest], frameSize);
      const isEmpty = rest.length === 0;
      rest = new Uint8Array();
      return isEmpty ? [] : [last];
    },
    clear: () => {
      rest = new Uint8Array();
      return ["clear"];
    },
  };
};

const service = { media: carrierMedia(frameCodec) };

const session = () => {
  const socket = new Socket();
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const stream = streamSession(socket, { onError }, { service });
  return { socket, stream, errors };
};

const framesOf = ({ sent }: Socket): Uint8Array[] =>
  sent.filter((each): each is Uint8Array => each instanceof Uint8Array);

describe("a carrier of binary frames", () => {
  test("gets them as ArrayBuffers, and is sent bytes", () => {
    const { socket, stream } = session();
    expect(Reflect.get(socket, "binaryType")).toBe("arraybuffer");
    socket.receive(start);
    stream.audio(new Uint8Array(frameSize).fill(7));
    expect(socket.sent).toEqual([new Uint8Array(frameSize).fill(7)]);
    stream.close();
  });

  test("gets nothing before start, however early it was given", async () => {
    const { socket, stream } = session();
    const sent = stream.audio(new Uint8Array(frameSize));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(socket.sent).toEqual([]);
    socket.receive(start);
    await vi.advanceTimersByTimeAsync(20);
    expect([await sent, socket.sent.length]).toEqual([true, 1]);
    stream.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gets whole frames only, whatever pieces there were, and the rest padded with silence", () => {
    assert(
      property(array(integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 20 }), (sizes) => {
        const { socket, stream } = session();
        socket.receive(start);
        let given = 0;
        for (const size of sizes) {
          stream.audio(Int16Array.from({ length: size }, () => ++given));
        }
        vi.advanceTimersByTime(60_000);
        const frames = framesOf(socket);
        expect(new Set(frames.map(({ length }) => length))).toEqual(new Set([frameSize]));
        const samples = new Int16Array(joined(frames).buffer);
        expect(samples.length - given).toBeLessThan(160);
        expect([...samples]).toEqual(Array.from(samples, (_, at) => (at < given ? at + 1 : 0)));
        stream.close();
        expect(vi.getTimerCount()).toBe(0);
      }),
    );
  });

  test("gets the rest of a frame with the audio that comes in time, else just before silence", () => {
    const { socket, stream } = session();
    socket.receive(start);
    stream.audio(new Int16Array(8 * 205)); // 205 ms.
    vi.advanceTimersByTime(164);
    expect(framesOf(socket)).toHaveLength(10);
    stream.audio(new Int16Array(8 * 15));
    expect(framesOf(socket)).toHaveLength(11);
    stream.audio(new Int16Array(8 * 10));
    vi.advanceTimersByTime(25);
    expect(framesOf(socket)).toHaveLength(11);
    vi.advanceTimersByTime(60);
    expect(framesOf(socket)).toHaveLength(12);
    stream.close();
  });

  test("drops what it kept when the line is cleared", () => {
    const { socket, stream } = session();
    socket.receive(start);
    stream.audio(new Uint8Array(330).fill(7));
    stream.clear();
    stream.audio(new Uint8Array(frameSize).fill(5));
    vi.advanceTimersByTime(60_000);
    expect(socket.sent).toEqual([
      new Uint8Array(frameSize).fill(7),
      "clear",
      new Uint8Array(frameSize).fill(5),
    ]);
    stream.close();
  });

  test("is cleared once to interrupt what has a name, and only while it may have some of it", () => {
    const { socket, stream } = session();
    socket.receive(start);
    const clears = () => socket.sent.filter((each) => each === "clear").length;
    for (let at = 0; at < 3; at++) stream.audio(new Uint8Array(16_000), "a");
    stream.audio(new Uint8Array(1_600), "b");
    stream.interrupt("c");
    expect(clears()).toBe(0);
    stream.interrupt("a");
    expect(clears()).toBe(1);
    stream.interrupt("b"); // Cleared with it.
    expect(clears()).toBe(1);
    stream.close();
  });

  test("whose stream stops has closed, and what waits isn't sent", async () => {
    const { socket, stream } = session();
    socket.receive(start);
    socket.bufferedAmount = 2 ** 20;
    const sent = stream.audio(new Uint8Array(frameSize));
    socket.receive({ type: "stop" });
    expect([await sent, socket.closed]).toEqual([false, [1000, ""]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is skipped where it is malformed, and the call goes on", async () => {
    const { socket, stream, errors } = session();
    socket.receive(start);
    socket.receive({ type: "broken" });
    socket.receive(start);
    expect(errors).toEqual([
      new FrameException("broken"),
      new FrameException("The stream has started already"),
    ]);
    expect(await stream.audio(new Uint8Array(2))).toBe(true);
    stream.close();
  });
});

test("an agent's audio reaches such a carrier in whole frames, and what is unheard counts by its bytes", async () => {
  const [line, mind] = [new Socket(), new Socket()];
  const cuts: unknown[] = [];
  const interrupted = (given: readonly Cut[]) => {
    cuts.push(...given);
    return [];
  };
  const agent = plain({ interrupted });
  const talk = connectAgent(line, agent, { service, open: () => mind });
  line.receive(start);
  await vi.advanceTimersByTimeAsync(0);
  mind.receive({ type: "ready" });
  mind.receive(new Uint8Array(16 * 495).fill(77).buffer);
  await vi.advanceTimersByTimeAsync(100);
  expect(framesOf(line)).toHaveLength(24);
  line.bufferedAmount = 16 * 400; // 400 ms of the 495 wait in our own socket.
  mind.receive({ type: "interrupted" });
  expect(cuts).toEqual([{ item: "", played: 95, duration: 495 }]);
  talk.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("without startVerifier the URL has the token: a secret that nothing would verify is refused", () => {
  const socket = new Socket();
  const options = { service, secret: "a secret of this test" };
  expect(() => streamSession(socket, {}, options)).toThrow("verify the URL with verifyUrl");
  expect(() => connectAgent(socket, plain(), options)).toThrow("secret is unknown");
});

test("Bun's socket sends bytes as they are", () => {
  const sent: unknown[] = [];
  const socket = new BunSocket();
  socket.open({
    data: socket,
    readyState: 1,
    send: (message) => sent.push(message),
    close: () => {},
    getBufferedAmount: () => 0,
  });
  const stream = streamSession(socket, {}, { service });
  socket.emit("message", { data: JSON.stringify(start) });
  stream.audio(new Uint8Array(frameSize).fill(3));
  expect(sent).toEqual([new Uint8Array(frameSize).fill(3)]);
  stream.close();
});
