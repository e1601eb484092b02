import type { CarrierMedia, MediaCodec, MediaInput } from "../../flows/media/carrier-media.ts";
import { carrierMedia, WholeFrames } from "../../flows/media/carrier-stream.ts";
import { checkFields, FrameException, keyRule, parseJson } from "../../flows/media/messages.ts";
import type { MediaMessage } from "../../flows/media/socket.ts";
import { fieldsOf, isRecord, isText } from "../../lib/check.ts";
import { callIdHeader } from "./wire.ts";

/** Messages of audio in a second: each has 20 ms, and one of another length ends the socket. */
const framesPerSecond = 50;

const isRate = (rate: number): rate is 8000 | 16_000 => rate === 8000 || rate === 16_000;

/**
 * The rate of 16-bit PCM in `content-type`.
 *
 * @throws {FrameException} for any other
 */
const rateIn = (contentType: unknown): 8000 | 16_000 => {
  const [, digits] = /^audio\/l16;\s*rate=(\d+)$/i.exec(String(contentType)) ?? [];
  const rate = Number(digits);
  if (isRate(rate)) return rate;
  throw new FrameException("content-type must be audio/l16;rate=8000 or audio/l16;rate=16000");
};

/** The longest id of a call, in characters. */
const maxId = 1000;

const bytesIn = (data: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  // Samples may begin at an odd place of a buffer that several messages share.
  return ArrayBuffer.isView(data)
    ? new Uint8Array(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    : undefined;
};

/** The messages of one WebSocket of Vonage's. */
export const mediaCodec = (applicationId: string): MediaCodec => {
  let frameBytes: number | undefined;
  const frames = new WholeFrames();

  const started = (given: Readonly<Record<string, unknown>>): MediaInput => {
    const sample_rate = rateIn(given["content-type"]);
    frameBytes ??= (sample_rate / framesPerSecond) * 2;
    const call_id = given[callIdHeader];
    return {
      type: "start",
      start: {
        type: "start",
        account_id: applicationId,
        call_id: isText(call_id) && call_id.length <= maxId ? call_id : "",
        stream_id: crypto.randomUUID(),
        message_id: 1,
        data: { encoding: "audio/l16", sample_rate, channels: 1 },
      },
    };
  };
  const audio = (bytes: Uint8Array<ArrayBuffer>): MediaInput => {
    if (!frameBytes) throw new FrameException("Audio came before websocket:connected");
    if (bytes.length % 2) throw new FrameException("The audio ends within a sample");
    return { type: "audio", bytes };
  };
  const pressed = (given: Readonly<Record<string, unknown>>): MediaInput => {
    if (!frameBytes) throw new FrameException("A key came before websocket:connected");
    checkFields(given, { digit: keyRule });
    return { type: "key", key: String(given.digit) };
  };
  const message = (action: string, more: object = {}): readonly MediaMessage[] => [
    JSON.stringify({ action, ...more }),
  ];

  return {
    pcmPerByte: 1,
    decode: (data) => {
      const bytes = bytesIn(data);
      if (bytes) return audio(bytes);
      const given = parseJson(data);
      if (!isRecord(given) || !isText(given.event)) {
        throw new FrameException("The message must have an event");
      }
      const { event } = given;
      if (event === "websocket:connected") return started(given);
      if (event === "websocket:dtmf") return pressed(given);
      const { mark } = fieldsOf(given.payload);
      if (event === "websocket:notify" && isText(mark)) return { type: "played", mark };
      return { type: "other", message: { ...given, type: event } };
    },
    audio: (pcm) => {
      const size = frameBytes ?? pcm.length;
      const bytes = frames.take(pcm, size);
      return Array.from({ length: bytes.length / size }, (_, at) =>
        bytes.slice(at * size, (at + 1) * size),
      );
    },
    flush: () => {
      const frame = frames.flush(frameBytes ?? 0);
      return frame.length ? [frame] : [];
    },
    clear: () => {
      frames.clear();
      return message("clear");
    },
    // What is kept, less than 20 ms, is played after it.
    mark: (name) => message("notify", { payload: { mark: name } }),
  };
};

/**
 * Vonage's WebSockets. Vonage keeps the query of the `ws_url`: verify it before the socket is accepted.
 *
 * @see https://developer.vonage.com/en/voice/voice-api/concepts/websockets
 */
export const mediaSide = (applicationId: string): CarrierMedia =>
  carrierMedia(() => mediaCodec(applicationId));
