import { isRecord, isText } from "../../../lib/check.ts";
import { bytesOf } from "../../../lib/encoding.ts";
import {
  type Effect,
  enqueue,
  type Output,
  ProtocolViolation,
  type SocketCodec,
} from "../../../performer/media-socket.ts";
import { Answers, objectOf } from "../../../server/media-messages.ts";
import type { Fields } from "./call.ts";

/** Milliseconds of audio in one message. */
const frameDuration = 20;

/** Milliseconds of a key that the callee presses. */
const digitDuration = 260;

/** The sample rates that a socket may have. */
export const sampleRates: ReadonlySet<number> = new Set([8_000, 16_000, 24_000]);

/** What a socket consists of. */
interface Socket {
  readonly id: string;
  readonly sampleRate: number;
  /** The `headers` of its endpoint. */
  readonly headers: Fields;
}

/** The bytes of a binary message; `undefined` for text. */
const bytesIn = (data: unknown): Uint8Array | undefined => {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return data instanceof Uint8Array ? data : undefined;
};

/** The messages of Vonage's WebSockets: binary audio of 16 bits, and JSON. */
export const webSocketCodec = ({ id, sampleRate, headers }: Socket): SocketCodec => {
  const frameBytes = (2 * sampleRate * frameDuration) / 1000;
  const answers = new Answers<object>();
  const json = (event: string, fields: Fields = {}): string =>
    JSON.stringify({ event: `websocket:${event}`, ...fields });

  const applyAudio = (bytes: Uint8Array, playout: Output, now: number): Effect => {
    if (bytes.length !== frameBytes) {
      throw new ProtocolViolation(
        `unexpected frame size ${bytes.length} bytes, when required ${frameBytes}`,
      );
    }
    const samples = new Int16Array(new Uint8Array(bytes).buffer);
    const effect = enqueue(playout, samples, undefined, now);
    answers.queued(samples.length, now);
    return effect;
  };

  return {
    stream_id: id,
    sides: ["callee"],
    sampleRate,
    frameDuration,
    opening: () => {
      const type = `audio/l16;rate=${sampleRate}`;
      return [json("connected", { "content-type": type, ...headers })];
    },
    encode: (samples) => {
      const bytes = bytesOf(samples);
      return () => bytes;
    },
    closing: () => [],
    apply: (data, playout, now) => {
      const bytes = bytesIn(data);
      if (bytes) return applyAudio(bytes, playout, now);
      if (!isText(data)) throw new TypeError("must be text or binary");
      const { action, payload } = objectOf(data, "must be JSON, or audio in a binary message");
      if (!isText(action)) throw new TypeError("action must be a string");
      if (action === "clear") {
        // The notifications of the audio are dropped with it.
        answers.cleared(now, false);
        answers.add(() => json("cleared"));
        return { type: "clear", samples: playout.clear(now) };
      }
      if (action !== "notify") return { type: "ignored", name: action };
      if (!isRecord(payload)) throw new TypeError("payload must be an object");
      answers.mark(payload, now);
      return { type: "queued" };
    },
    due: (now) => answers.take(now, (payload) => json("notify", { payload })),
    nextDue: () => answers.nextDue,
    press: (digit) => {
      answers.add(() => json("dtmf", { digit, duration: digitDuration }));
    },
  };
};
