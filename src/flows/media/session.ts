import { fail, fieldsOf, serviceRule, withoutThrowing } from "../../lib/check.ts";
import { processClock } from "../../lib/clock.ts";
import { base64 } from "../../lib/encoding.ts";
import type { Rule } from "../../lib/rules.ts";
import { AudioQueue, createSender } from "./audio-queue.ts";
import type { CarrierMedia, MediaStream, StreamForm } from "./carrier-media.ts";
import {
  decodeAudio,
  FrameException,
  isOther,
  type MediaClear,
  type MediaInterrupt,
  type MediaPlayedRequest,
  type MediaSpeech,
  type MediaStart,
  type NestedMediaSpeech,
  parseMessage,
} from "./messages.ts";
import { createReports, type PlayedReports } from "./played-reports.ts";
import { onlyWithService } from "./signed-start.ts";
import { attach, type MediaSocket, type OnOver, type StreamHandlers } from "./socket.ts";

/** How a session reads and writes its messages. */
export interface StreamOptions extends StreamForm {
  /**
   * The carrier whose messages the socket carries, such as `twilio({ … })`.
   *
   * @defaultValue none: outdial's own interface
   */
  readonly service?: { readonly media: CarrierMedia } | undefined;
}

const minChunk = 20;
const maxChunk = 10_000;

/** The rule of `chunkSize`, and its text as the end of a sentence. */
export const chunkSizeRule: Rule = [
  (value) => Number.isInteger(value) && Number(value) >= minChunk && Number(value) <= maxChunk,
  `must be a whole number of ms from ${minChunk} to ${maxChunk}`,
];

/** A ping without an answer so far counts as no longer than this, in ms: some services may answer none. */
const maxDelay = 1000;

/** @throws {BadParametersException} (`placed: "no"`) when `chunkSize` breaks its rule */
const chunkSizeOf = ({ chunkSize = 500 }: StreamOptions): number =>
  chunkSizeRule[0](chunkSize) ? chunkSize : fail("chunkSize", chunkSizeRule[1]);

/** Sends and receives the media messages of outdial's own interface on a WebSocket. */
const openStream = (
  socket: MediaSocket,
  handlers: StreamHandlers,
  { form = "flat" }: StreamOptions,
  onOver: OnOver,
): MediaStream => {
  let start: MediaStart | undefined;
  let samples = 0;
  let chunks = 0;
  /** When a ping was sent, and how long its answer took, in ms. */
  let pingedAt = 0;
  let roundTrip: number | undefined;
  /** Absent where the service doesn't say what it has played. */
  let acknowledged: PlayedReports | undefined;

  /** Measures the delay of the network: a ping comes after what was sent before it. */
  const ping = (): void => {
    withoutThrowing(() => {
      if (!socket.once || !socket.ping) return;
      socket.once("pong", () => {
        roundTrip = now() - pingedAt;
      });
      pingedAt = now();
      socket.ping();
    });
  };

  const receive = (data: unknown): void => {
    const message = parseMessage(data);
    if (isOther(message)) {
      if (acknowledged && message.type === "played") acknowledged.played(fieldsOf(message.data).ms);
      else attached.call(handlers.onMessage, message);
    } else if (message.type === "start") {
      if (start) throw new FrameException("The stream has started already");
      start = message;
      if ([message.messages].flat().includes("played")) {
        acknowledged = createReports(now, () => send({ type: "played" }));
      }
      attached.call((given: MediaStart) => handlers.onStart?.(given, {}), message);
    } else {
      if (message.stream_id !== start?.stream_id) throw new FrameException("stream_id is another");
      const bytes = decodeAudio(message);
      const time = (samples / start.data.sample_rate) * 1000;
      samples += bytes.length / 2;
      attached.call(handlers.onAudio, { bytes, time });
    }
  };
  const attached = attach(socket, handlers, receive, onOver);
  const { now } = attached.clock;
  const send = (
    message: MediaSpeech | NestedMediaSpeech | MediaInterrupt | MediaClear | MediaPlayedRequest,
  ): boolean => {
    if (message.type === "clear") acknowledged?.clear();
    return attached.write(() => [JSON.stringify(message)]);
  };

  return {
    ...attached,
    get roundTrip() {
      // Until the answer has come it takes at least as long.
      return roundTrip ?? (pingedAt && Math.min(now() - pingedAt, maxDelay));
    },
    sendAudio: (bytes: Uint8Array) => {
      const chunk_id = String(++chunks);
      const speech = { audio_b64: base64(bytes), chunk_id };
      const message = form === "flat" ? speech : { data: speech };
      const isSent = send({ type: "audio", ...message });
      // The first audio decides when all that follows without a pause is heard.
      if (isSent && chunks === 1) ping();
      return isSent ? chunk_id : undefined;
    },
    send,
    get acknowledged() {
      return acknowledged;
    },
    sampleRate: () => start?.data.sample_rate ?? 8000,
  };
};

/**
 * The stream on a socket, in the form of the service.
 *
 * @throws {BadParametersException} (`placed: "no"`) when an option about `start` breaks its rule
 */
export const streamOf = (
  socket: MediaSocket,
  handlers: StreamHandlers,
  options: StreamOptions,
  onOver: OnOver,
): MediaStream =>
  (options.service?.media.openStream ?? openStream)(socket, handlers, options, onOver);

/** The application's end of a media stream. */
export interface StreamSession {
  /**
   * Sends audio, after the audio that was given before. It goes out in messages of at most `chunkSize`, each with
   * a `chunk_id` of its own, and waits while more than 64 KiB wait for the network.
   *
   * @param samples - 16-bit samples at the stream's rate, as an array of any kind or a buffer; don't change them
   * before the promise has settled
   * @param name - to interrupt it by; several calls may use the same
   * @returns `true` once everything was sent, `false` when it was interrupted, cleared, or the stream ended, or
   * when 4 MiB wait already for a service that doesn't read; it never rejects: what isn't whole samples goes to
   * `onError`, and gives `false`
   */
  readonly audio: (
    samples: ArrayBuffer | ArrayBufferView,
    name?: string | number,
  ) => Promise<boolean>;
  /**
   * Stops all audio with this name, here and at the service. A `service` that can only clear, such as Twilio, drops
   * all the audio that it has queued, whatever its name; what waits here under other names is still sent.
   */
  readonly interrupt: (name: string | number) => void;
  /** Discards all audio that waits, here and at the service. */
  readonly clear: () => void;
  /** Ends the stream and calls `onClose` at once. */
  readonly close: (code?: number, reason?: string) => void;
  /** Bytes that were given to `audio` and are not sent yet. */
  readonly waiting: number;
  /** Bytes that the socket buffers for the network. */
  readonly buffered: number;
}

type Name = string | number;

/** One call of `audio`. */
interface Speech {
  readonly name: Name | undefined;
  left: number;
  readonly settle: (isSent: boolean) => void;
}

/** A message that the service may still have. */
interface Sent {
  readonly name: Name;
  readonly chunk_id: string;
  /** When it has certainly been played, in ms. */
  readonly over: number;
}

/** The most that is queued, in bytes and in calls of `audio`: a service that doesn't read. */
const maxQueued = 2 ** 22;
const maxSpeeches = 10_000;

/** How much later than by our clock a message may be played, in ms. */
const grace = 30_000;

/**
 * The bytes of samples, without a copy.
 *
 * @throws {TypeError} when it isn't whole 16-bit samples
 */
const bytesOf = (samples: unknown): Uint8Array => {
  const isView = ArrayBuffer.isView(samples);
  const buffer = isView ? samples.buffer : samples;
  const bytes = isView
    ? new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
    : isBuffer(buffer) && new Uint8Array(buffer);
  if (bytes && bytes.length % 2 === 0) return bytes;
  throw new TypeError("samples must be an array or a buffer of whole 16-bit samples");
};

/** Whether a value is a buffer of any realm, shared or not. */
const isBuffer = (value: unknown): value is ArrayBufferLike =>
  /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value));

/**
 * Sends and receives the media messages on a WebSocket that the service has opened at `ws_url`. Call it before you
 * yield to the event loop, so that the first message isn't missed, and on Workers after `accept()`.
 *
 * A message that breaks the protocol goes to `onError` and is skipped: it never ends a call.
 *
 * @param socket - any standard WebSocket, already accepted
 * @param handlers - functions to call
 * @param options - how messages are written
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when `chunkSize` breaks its rule
 *
 * @example An echo
 * ```ts
 * import { type MediaSocket, streamSession } from "outdial/flows";
 *
 * const serve = (socket: MediaSocket) => {
 *   const session = streamSession(socket, {
 *     onStart: ({ call_id }) => console.log(call_id),
 *     onAudio: ({ bytes }) => session.audio(bytes),
 *     onClose: ({ code }) => console.log(code),
 *     onError: console.error,
 *   });
 * };
 *
 * // In Deno: serve(Deno.upgradeWebSocket(request).socket). Here, a socket of nothing:
 * const nothing = new EventTarget();
 * const socket = Object.assign(nothing, { readyState: 1, send: console.log, close: () => {} });
 * serve(socket);
 * const data = { encoding: "audio/l16", sample_rate: 8000, channels: 1 };
 * const start = { account_id: "acc_1", call_id: "cs_1", stream_id: "st_1", message_id: 1, data };
 * socket.dispatchEvent(
 *   new MessageEvent("message", { data: JSON.stringify({ type: "start", ...start }) }), // cs_1
 * );
 * ```
 * @see docs/flows.md
 */
export const streamSession = (
  socket: MediaSocket,
  handlers: StreamHandlers,
  options: StreamOptions = {},
): StreamSession => {
  const chunkSize = chunkSizeOf(options);
  const clock = socket.simulation ?? processClock;
  const queue = new AudioQueue<Speech>();
  const speeches = new Set<Speech>();
  let sent: Sent[] = [];
  /** When everything that was sent has been played, if nothing held it up, in ms. */
  let playedAt = 0;

  const settle = (speech: Speech, isSent: boolean): void => {
    speeches.delete(speech);
    speech.settle(isSent);
  };
  /** Drops what has this name, or everything; returns the ids of its messages that the service may still have. */
  const drop = (matches: (name: Name | undefined) => boolean): readonly string[] => {
    queue.drop(({ name }) => matches(name));
    for (const speech of speeches) if (matches(speech.name)) settle(speech, false);
    const now = clock.now();
    const meant = sent.filter(({ name, over }) => matches(name) && over > now);
    sent = sent.filter((each) => !meant.includes(each));
    sender.run();
    return meant.map(({ chunk_id }) => chunk_id);
  };
  /** Remembers a message by its name for as long as it may be interrupted. */
  const remember = (name: Name | undefined, chunk_id: string, ms: number): void => {
    const now = clock.now();
    playedAt = Math.max(now, playedAt) + ms;
    if (sent[0] && sent[0].over <= now) sent = sent.filter(({ over }) => over > now);
    if (name !== undefined) sent.push({ name, chunk_id, over: playedAt + grace });
  };
  const sendNext = (): void => {
    const bytesPerMs = (stream.sampleRate() * 2) / 1000;
    const part = queue.take(Math.max(2, Math.floor((chunkSize * bytesPerMs) / 2) * 2));
    if (!part) return;
    const { tag: speech, bytes } = part;
    const chunk_id = stream.sendAudio(bytes);
    if (chunk_id === undefined) {
      queue.drop((tag) => tag === speech);
      settle(speech, false);
      return;
    }
    remember(speech.name, chunk_id, bytes.length / bytesPerMs);
    speech.left -= bytes.length;
    if (speech.left === 0) settle(speech, true);
  };
  const isFull = (): boolean => stream.isFull();

  const sender = createSender(queue, () => 0, isFull, sendNext, clock);
  if (options.service && !options.service.media) fail("service", serviceRule);
  if ("service" in handlers) {
    fail(
      "service",
      "is a field of the third argument: streamSession(socket, handlers, { service })",
    );
  }
  if (!options.service && options.secret !== undefined) fail("secret", onlyWithService);
  const stream = streamOf(socket, handlers, options, () => drop(() => true));

  return {
    audio: async (samples, name) => {
      try {
        const bytes = bytesOf(samples);
        if (stream.isOver() || speeches.size >= maxSpeeches || queue.length >= maxQueued)
          return false;
        if (bytes.length === 0) return true;
        return await new Promise<boolean>((resolve) => {
          const speech = { name, left: bytes.length, settle: resolve };
          speeches.add(speech);
          queue.push(bytes, speech);
          sender.run();
        });
      } catch (error) {
        stream.report(error);
        return false;
      }
    },
    interrupt: (name) => {
      for (const chunk_id of drop((each) => each === name)) {
        stream.send({ type: "interrupt", chunk_id });
      }
    },
    clear: () => {
      drop(() => true);
      stream.send({ type: "clear" });
    },
    close: stream.close,
    get waiting() {
      return queue.length;
    },
    get buffered() {
      return stream.buffered();
    },
  };
};
