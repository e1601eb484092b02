import { safeParse } from "valibot";
import { FromApplication, type MediaAudio, type MediaStart } from "../../flows/media/messages.ts";
import { isRecord } from "../../lib/check.ts";
import { base64, bytesOf, decoded } from "../../lib/encoding.ts";
import {
  type Effect,
  enqueue,
  type Output,
  type SocketCodec,
} from "../../performer/media-socket.ts";
import { jsonOf } from "../media-messages.ts";

/**
 * The samples in base64.
 *
 * @throws {TypeError} when it is not base64, or not whole samples
 */
export const samplesOf = (base64: string): Int16Array => {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    if (/[-_]/.test(base64)) throw new TypeError("base64url");
    bytes = decoded(base64);
  } catch {
    throw new TypeError("audio_b64 must be base64");
  }
  if (bytes.length % 2) throw new TypeError("audio_b64 must be whole 16-bit samples");
  return new Int16Array(bytes.buffer);
};

const knownTypes: ReadonlySet<unknown> = new Set(["audio", "interrupt", "clear"]);

/**
 * Applies a message of an application to the playout.
 *
 * @param now - the current sample
 * @throws {TypeError} when the message is malformed
 */
const applyMessage = (data: unknown, playout: Output, now: number): Effect => {
  const message = jsonOf(data);
  const name = isRecord(message) ? message.type : undefined;
  if (typeof name === "string" && !knownTypes.has(name)) return { type: "ignored", name };
  const { success, output, issues } = safeParse(FromApplication, message);
  if (!success) {
    const { path, message: rule } = issues[0];
    throw new TypeError([path?.map(({ key }) => key).join("."), rule].filter(Boolean).join(" "));
  }
  if (output.type === "clear") return { type: "clear", samples: playout.clear(now) };
  if (output.type === "interrupt") {
    const { chunk_id } = output;
    return { type: "interrupt", chunk_id, samples: playout.interrupt(chunk_id, now) };
  }
  const { audio_b64, chunk_id } = output;
  return enqueue(playout, samplesOf(audio_b64), chunk_id, now);
};

/** What a stream of outdial's own interface consists of. */
interface StreamFacts {
  readonly account_id: string;
  readonly call_id: string;
  readonly stream_id: string;
  readonly sampleRate: 8000 | 16000;
  /** Milliseconds of audio in each message. */
  readonly frameDuration: number;
}

/** The messages of outdial's own interface: JSON, with 16-bit samples in base64. */
export const outdialCodec = (facts: StreamFacts): SocketCodec => {
  const { account_id, call_id, stream_id, sampleRate, frameDuration } = facts;
  let count = 0;
  const json = (message: Omit<MediaStart, "message_id"> | Omit<MediaAudio, "message_id">) =>
    JSON.stringify({ ...message, message_id: ++count });
  return {
    stream_id,
    sides: ["callee"],
    sampleRate,
    frameDuration,
    opening: () => {
      const data = { encoding: "audio/l16", sample_rate: sampleRate, channels: 1 } as const;
      return [json({ type: "start", account_id, call_id, stream_id, data })];
    },
    encode: (samples) => {
      const audio_b64 = base64(bytesOf(samples));
      return () => json({ type: "audio", stream_id, data: { audio_b64 } });
    },
    closing: () => [],
    apply: applyMessage,
  };
};
