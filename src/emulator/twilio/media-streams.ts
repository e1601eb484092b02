import { isRecord } from "../../lib/check.ts";
import { base64, decoded } from "../../lib/encoding.ts";
import { decodeMulaw, encodeMulaw } from "../../lib/mulaw.ts";
import type { Playout } from "../recording/playout.ts";
import type { Side } from "../recording/recording.ts";
import { type Effect, enqueue, type LineCodec } from "../stream.ts";

const sampleRate = 8_000;

/** Milliseconds of audio in one message. */
const frameDuration = 20;

/** The names of the sides of a call in messages. */
const tracks = { callee: "inbound", application: "outbound" } as const;

/** What a stream consists of. */
interface MediaStream {
  readonly accountSid: string;
  readonly callSid: string;
  readonly streamSid: string;
  readonly sides: readonly Side[];
  /** The `Parameter`s of the stream. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Whether the application may send audio. */
  readonly isBidirectional: boolean;
}

/** A mark of the application: it comes back once all audio before it was played. */
interface Mark {
  readonly name: string;
  /** The sample at which that is. */
  readonly due: number;
}

const parse = (data: unknown): Readonly<Record<string, unknown>> => {
  if (typeof data !== "string") throw new TypeError("must be text");
  let message: unknown;
  try {
    message = JSON.parse(data);
  } catch {
    throw new TypeError("must be JSON");
  }
  if (!isRecord(message)) throw new TypeError("must be an object");
  return message;
};

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

/** The codec of one stream, and the key that a callee pressed. */
export interface MediaStreamsCodec extends LineCodec<string> {
  readonly press: (digit: string) => void;
}

/** The messages of Twilio's Media Streams: JSON, with 8 kHz μ-law in base64. */
export const mediaStreamsCodec = (stream: MediaStream): MediaStreamsCodec => {
  const { accountSid, callSid, streamSid, sides, parameters, isBidirectional } = stream;
  let sequence = 0;
  const chunks = { callee: 0, application: 0 };
  let keys: string[] = [];
  let marks: readonly Mark[] = [];
  /** The sample at which all queued audio is played. */
  let end = 0;
  const json = (event: string, fields: object): string =>
    JSON.stringify({ event, sequenceNumber: String(++sequence), ...fields, streamSid });

  const apply = (data: unknown, playout: Playout, now: number): Effect => {
    const { event, ...message } = parse(data);
    if (typeof event !== "string") throw new TypeError("event must be a string");
    if (!isBidirectional) return { type: "ignored", name: event };
    if (event !== "media" && event !== "mark" && event !== "clear") {
      return { type: "ignored", name: event };
    }
    if (message.streamSid !== streamSid) throw new TypeError("streamSid must be the stream's");
    if (event === "clear") {
      end = now;
      marks = marks.map(({ name }) => ({ name, due: now }));
      return { type: "clear", samples: playout.clear(now) };
    }
    if (event === "mark") {
      marks = [...marks, { name: markName(message.mark), due: Math.max(end, now) }];
      return { type: "queued" };
    }
    const samples = samplesOf(message.media);
    const effect = enqueue(playout, samples, undefined, now);
    end = Math.max(end, now) + samples.length;
    return effect;
  };

  return {
    stream_id: streamSid,
    sides,
    sampleRate,
    frameDuration,
    opening: () => [
      JSON.stringify({ event: "connected", protocol: "Call", version: "1.0.0" }),
      json("start", {
        start: {
          accountSid,
          streamSid,
          callSid,
          tracks: sides.map((side) => tracks[side]),
          mediaFormat: { encoding: "audio/x-mulaw", sampleRate, channels: 1 },
          customParameters: parameters,
        },
      }),
    ],
    encode: (samples) => base64(encodeMulaw(samples)),
    audio: (payload, ms, side) => {
      const chunk = String(++chunks[side]);
      return json("media", {
        media: { track: tracks[side], chunk, timestamp: String(ms), payload },
      });
    },
    closing: () => [json("stop", { stop: { accountSid, callSid } })],
    apply,
    due: (now) => {
      const pressed = keys.map((digit) =>
        json("dtmf", { dtmf: { track: "inbound_track", digit } }),
      );
      keys = [];
      const played = marks.filter(({ due }) => due <= now);
      marks = marks.slice(played.length);
      return [...pressed, ...played.map(({ name }) => json("mark", { mark: { name } }))];
    },
    nextDue: () => (keys.length > 0 ? 0 : marks[0]?.due),
    press: (digit) => {
      keys = [...keys, digit];
    },
  };
};
