import type { MediaClear, MediaInterrupt, MediaSpeech, NestedMediaSpeech } from "./application.ts";
import { audioOf, FrameException, frameIn, isOther, messageIn } from "./frame.ts";
import type { Closed, StreamHandlers, StreamOptions } from "./options.ts";
import { bytesOf } from "./samples.ts";
import type { MediaStart } from "./service.ts";
import type { MediaEvent, MediaSocket } from "./socket.ts";
import { Speaker } from "./speaker.ts";

/** The application's end of a media stream. */
export interface StreamSession {
  /**
   * Says something, after what was given before. It goes out in messages of at most `chunk_size`, each
   * with a `chunk_id` of its own, and waits while more than 64 KiB wait for the network.
   *
   * @param samples - 16-bit samples in the stream's rate, as an array of any kind or a buffer; leave
   * them alone until it is done
   * @param name - to interrupt it by; several things may have the same
   * @returns `true` once everything went out, `false` when it was interrupted, cleared, or the stream
   * ended, or when 4 MiB wait already for a service that doesn't read; it never rejects: what isn't whole
   * samples is told to `onError`, and gives `false`
   */
  readonly audio: (
    samples: ArrayBuffer | ArrayBufferView,
    name?: string | number,
  ) => Promise<boolean>;
  /** Stops all that was said by this name, here and at the service. */
  readonly interrupt: (name: string | number) => void;
  /** Throws away everything that waits to be said, here and at the service. */
  readonly clear: () => void;
  /** Ends the stream; `onClose` hears of it at once. */
  readonly close: (code?: number, reason?: string) => void;
  /** Bytes of audio that `audio` was given and that didn't go out yet. */
  readonly waiting: number;
  /** Bytes that the socket holds for the network. */
  readonly buffered: number;
}

/**
 * Speaks the media messages over a WebSocket that the service has opened at `ws_url`. Make it before
 * you yield to the event loop, so that the first message is heard, and on Workers after `accept()`.
 *
 * A message that isn't what the service sends is told to `onError` and left out: it never ends a call.
 *
 * @param socket - any standard WebSocket, already accepted
 * @param handlers - what to do
 * @param options - how to write what is said
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when `chunk_size` breaks its rule
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
  const { chunk_size = 500, form = "flat" } = options;
  let start: MediaStart | undefined;
  let heard = 0;
  let ended = false;

  const report = (error: unknown): void => {
    (async () => handlers.onError?.(error))().catch(() => {});
  };
  const tell = <T>(handler: ((news: T) => unknown) | undefined, news: T): void => {
    (async () => handler?.(news))().catch(report);
  };
  const write = (
    message: MediaSpeech | NestedMediaSpeech | MediaInterrupt | MediaClear,
  ): boolean => {
    try {
      if (!ended) socket.send(JSON.stringify(message));
      return !ended;
    } catch (error) {
      report(error);
      return false;
    }
  };
  const say = ({ type, ...data }: MediaSpeech): boolean =>
    write(form === "flat" ? { type, ...data } : { type, data });
  const speaker = new Speaker(socket, say, chunk_size, () => start?.data.sample_rate ?? 8000);

  const onMessage = ({ data }: MediaEvent): void => {
    try {
      const arrived = messageIn(data);
      if (isOther(arrived)) {
        tell(handlers.onMessage, arrived);
        return;
      }
      const message = frameIn(arrived);
      if (message.type === "start") {
        if (start) throw new FrameException("The stream has started already");
        start = message;
        tell(handlers.onStart, message);
      } else {
        if (message.stream_id !== start?.stream_id)
          throw new FrameException("stream_id is another");
        const bytes = audioOf(message);
        const time = (heard / start.data.sample_rate) * 1000;
        heard += bytes.length / 2;
        tell(handlers.onAudio, { bytes, time });
      }
    } catch (error) {
      report(error);
    }
  };
  const end = (closed: Closed): void => {
    if (ended) return;
    ended = true;
    socket.removeEventListener("message", onMessage);
    speaker.stop();
    tell(handlers.onClose, closed);
  };
  const shut = (...how: readonly [code?: number, reason?: string]): void => {
    try {
      socket.close(...how);
    } catch (error) {
      if (how.length > 0) {
        report(error); // Such as a code that is the protocol's own.
        shut();
      } // Else it is closed.
    }
    if (socket.readyState === 3) release();
  };
  const lost = ({ code = 1006, reason = "" }: Partial<MediaEvent>): void => {
    if (ended) return;
    end({ code, reason });
    shut(); // Workers leave the answer to the application.
  };
  const onClose = (event: MediaEvent): void => {
    release();
    lost(event);
  };
  const onError = (): void => lost({});
  /** Only once it is closed: an error that nobody hears ends the process, where the socket is of `ws`. */
  const release = (): void => {
    socket.removeEventListener("close", onClose);
    socket.removeEventListener("error", onError);
  };

  socket.addEventListener("message", onMessage);
  socket.addEventListener("close", onClose);
  socket.addEventListener("error", onError);
  if (socket.readyState > 1) queueMicrotask(onError);

  return {
    audio: async (samples, name) => {
      try {
        const bytes = bytesOf(samples);
        return !ended && (await speaker.say(bytes, name));
      } catch (error) {
        report(error);
        return false;
      }
    },
    interrupt: (name) => {
      for (const chunk_id of speaker.stop(name)) write({ type: "interrupt", chunk_id });
    },
    clear: () => {
      speaker.stop();
      write({ type: "clear" });
    },
    close: (code = 1000, reason = "") => {
      if (ended) return;
      end({ code, reason });
      shut(code, reason);
    },
    get waiting() {
      return speaker.waiting;
    },
    get buffered() {
      return socket.bufferedAmount ?? 0;
    },
  };
};
