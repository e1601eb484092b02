import { chunkSizeOf, type StreamHandlers, type StreamOptions } from "./options.ts";
import { bytesOf } from "./samples.ts";
import type { MediaSocket } from "./socket.ts";
import { Speaker } from "./speaker.ts";
import { wireOn } from "./wire.ts";

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
  const chunkSize = chunkSizeOf(options);
  const wire = wireOn(socket, handlers, options, () => speaker.stop());
  const speaker = new Speaker(socket, wire, chunkSize);
  return {
    audio: async (samples, name) => {
      try {
        const bytes = bytesOf(samples);
        return !wire.isOver && (await speaker.say(bytes, name));
      } catch (error) {
        wire.report(error);
        return false;
      }
    },
    interrupt: (name) => {
      for (const chunk_id of speaker.stop(name)) wire.send({ type: "interrupt", chunk_id });
    },
    clear: () => {
      speaker.stop();
      wire.send({ type: "clear" });
    },
    close: wire.close,
    get waiting() {
      return speaker.waiting;
    },
    get buffered() {
      return wire.buffered;
    },
  };
};
