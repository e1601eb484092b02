import { isRecord, isText } from "../../../lib/check.ts";
import { bytesOf } from "../../../lib/encoding.ts";
import {
  type Effect,
  enqueue,
  type Output,
  ProtocolViolation,
  type SocketCodec,
} from "../../../performer/media-socket.ts";
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

/** A `notify` of the application: it comes back once all audio before it was played. */
interface Notify {
  readonly payload: unknown;
  /** The sample at which that is. */
  readonly due: number;
}

const parse = (text: string): Readonly<Record<string, unknown>> => {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw new TypeError("must be JSON, or audio in a binary message");
  }
  if (isRecord(message)) return message;
  throw new TypeError("must be an object");
};

/** The bytes of a binary message; `undefined` for text. */
const bytesIn = (data: unknown): Uint8Array | undefined => {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return data instanceof Uint8Array ? data : undefined;
};

/** The messages of Vonage's WebSockets: binary audio of 16 bits, and JSON. */
export const webSocketCodec = ({ id, sampleRate, headers }: Socket): SocketCodec => {
  const frameBytes = (2 * sampleRate * frameDuration) / 1000;
  let notifies: readonly Notify[] = [];
  /** Messages that are sent at once. */
  let waiting: readonly string[] = [];
  /** The sample at which all queued audio is played. */
  let end = 0;
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
    end = Math.max(end, now) + samples.length;
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
      const { action, payload } = parse(data);
      if (!isText(action)) throw new TypeError("action must be a string");
      if (action === "clear") {
        end = now;
        // The notifications of the audio are dropped with it.
        notifies = [];
        waiting = [...waiting, json("cleared")];
        return { type: "clear", samples: playout.clear(now) };
      }
      if (action !== "notify") return { type: "ignored", name: action };
      if (!isRecord(payload)) throw new TypeError("payload must be an object");
      notifies = [...notifies, { payload, due: Math.max(end, now) }];
      return { type: "queued" };
    },
    due: (now) => {
      const first = waiting;
      waiting = [];
      const played = notifies.filter(({ due }) => due <= now);
      notifies = notifies.slice(played.length);
      return [...first, ...played.map(({ payload }) => json("notify", { payload }))];
    },
    nextDue: () => (waiting.length > 0 ? 0 : notifies[0]?.due),
    press: (digit) => {
      waiting = [...waiting, json("dtmf", { digit, duration: digitDuration })];
    },
  };
};
