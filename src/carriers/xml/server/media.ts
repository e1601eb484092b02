import { isRecord } from "../../../lib/check.ts";
import { base64, decoded } from "../../../lib/encoding.ts";
import { decodeMulaw, encodeMulaw } from "../../../lib/mulaw.ts";
import {
  type Effect,
  enqueue,
  type Output,
  type Side,
  type SocketCodec,
} from "../../../performer/media-socket.ts";
import { Answers, objectOf } from "../../../server/media-messages.ts";
import type { Fields } from "./requests.ts";

/** The sample rate of μ-law on the telephone network. */
export const sampleRate = 8_000;

/** Milliseconds of audio in one message. */
const frameDuration = 20;

/** Whose audio a stream has, by its attribute `track`. */
export const sidesOfTrack: ReadonlyMap<string, readonly Side[]> = new Map([
  ["inbound_track", ["callee"]],
  ["outbound_track", ["application"]],
  ["both_tracks", ["callee", "application"]],
]);

/** The names of the sides of a call in messages. */
export const tracks = { callee: "inbound", application: "outbound" } as const;

/** The fields of a message. */
type Json = Readonly<Record<string, unknown>>;

/** The messages of one carrier's media socket. */
export interface MediaForm {
  /** The first message. */
  readonly connected: Json;
  /** The fields of the message that begins the stream. */
  readonly start: Json;
  /** The fields of the message that ends the stream. */
  readonly stop: Json;
  /** The fields of a key that the callee has pressed. */
  readonly dtmf: (digit: string) => Json;
  /** A whole message. */
  readonly message: (event: string, sequence: string, fields: Json) => Json;
  /**
   * Checks a message of the application.
   *
   * @throws {TypeError} when it is malformed
   */
  readonly check?: (message: Json) => void;
  /** What is answered to a malformed message, if anything is. */
  readonly error?: (reason: string) => Json;
}

/** What a carrier makes of the attributes of a `Stream`. */
export interface StreamPlan {
  /** Whose audio the application receives. */
  readonly sides: readonly Side[];
  /** Whether the application may send audio. */
  readonly isBidirectional: boolean;
  /** Why its audio can't be played, as the end of a sentence. */
  readonly unplayable?: string | undefined;
}

/** A stream that is opened. */
export interface OpenedStream extends StreamPlan {
  readonly streamSid: string;
  /** The `Parameter`s of the stream. */
  readonly parameters: Fields;
}

const samplesOf = (media: unknown): Int16Array => {
  const payload = isRecord(media) ? media.payload : undefined;
  if (typeof payload !== "string") throw new TypeError("media.payload must be base64");
  try {
    return decodeMulaw(decoded(payload));
  } catch {
    throw new TypeError("media.payload must be base64");
  }
};

const markName = (mark: unknown): string => {
  const name = isRecord(mark) ? mark.name : undefined;
  if (typeof name === "string") return name;
  throw new TypeError("mark.name must be a string");
};

/** The messages of a media socket: JSON, with 8 kHz μ-law in base64. */
export const mulawCodec = (form: MediaForm, stream: OpenedStream): SocketCodec => {
  const { streamSid, sides, isBidirectional, unplayable } = stream;
  let sequence = 0;
  const chunks = { callee: 0, application: 0 };
  const answers = new Answers<string>();
  const json = (event: string, fields: Json): string =>
    JSON.stringify(form.message(event, String(++sequence), fields));

  const applyMessage = (data: unknown, playout: Output, now: number): Effect => {
    const message = objectOf(data);
    const { event } = message;
    if (typeof event !== "string") throw new TypeError("event must be a string");
    if (!isBidirectional) return { type: "ignored", name: event };
    if (event !== "media" && event !== "mark" && event !== "clear") {
      return { type: "ignored", name: event };
    }
    form.check?.(message);
    if (event === "clear") {
      return { type: "clear", samples: playout.clear(now) };
    }
    if (event === "mark") {
      answers.mark(markName(message.mark), playout);
      return { type: "queued" };
    }
    if (unplayable !== undefined) throw new TypeError(unplayable);
    return enqueue(playout, samplesOf(message.media), undefined, now);
  };

  return {
    stream_id: streamSid,
    sides,
    sampleRate,
    frameDuration,
    opening: () => [JSON.stringify(form.connected), json("start", form.start)],
    encode: (samples) => {
      const payload = base64(encodeMulaw(samples));
      return (ms, side) => {
        const chunk = String(++chunks[side]);
        return json("media", {
          media: { track: tracks[side], chunk, timestamp: String(ms), payload },
        });
      };
    },
    closing: () => [json("stop", form.stop)],
    apply: (data, playout, now) => {
      try {
        return applyMessage(data, playout, now);
      } catch (error) {
        const answer = error instanceof TypeError ? form.error?.(error.message) : undefined;
        if (answer) answers.add(() => JSON.stringify(answer));
        throw error;
      }
    },
    due: (output, now) => answers.take(output, now, (name) => json("mark", { mark: { name } })),
    nextDue: (output) => answers.nextDue(output),
    press: (digit) => {
      const fields = form.dtmf(digit);
      answers.add(() => json("dtmf", fields));
    },
  };
};
