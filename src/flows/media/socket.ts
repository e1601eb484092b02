import type { Context } from "../../callbacks/signed-url.ts";
import { isFunction, withoutThrowing } from "../../lib/check.ts";
import { type MediaClock, processClock } from "../../lib/clock.ts";
import { type Reporter, reporterOf } from "../../lib/report.ts";
import { maxBuffered } from "./audio-queue.ts";
import type { MediaOther, MediaStart } from "./messages.ts";

/** The part of a WebSocket's event that a session reads. */
export interface MediaEvent {
  /** The type of the event. */
  readonly type: string;
  /** The content of a message. */
  readonly data?: unknown;
  /** The close code. */
  readonly code?: number;
  /** The reason of a close. */
  readonly reason?: string;
}

/** The part of a WebSocket that a session needs: every standard one has it, and that of `ws` on Node. */
export interface MediaSocket {
  /** 0 while it connects, 1 while it is open. */
  readonly readyState: number;
  /** Bytes that it buffers for the network. Workers don't have it: there a full network can't be seen. */
  readonly bufferedAmount?: number;
  /** How binary messages are delivered: set to `"arraybuffer"` with a `service`. */
  binaryType?: string;
  /** The simulated call that it belongs to: the sockets of `simulateCall` have it. */
  readonly simulation?: MediaClock | undefined;
  /** Sends a message: text, and bytes with a service that takes binary audio. */
  send(message: string | Uint8Array<ArrayBuffer>): void;
  /** Closes the socket. */
  close(code?: number, reason?: string): void;
  /** Cuts the connection at once. Sockets of `ws` and Bun have it: called when the peer doesn't answer a close. */
  terminate?(): void;
  /** Sends a ping, which the peer answers with a pong. Sockets of `ws` have it: it measures the delay of the network. */
  ping?(): void;
  /** The same sockets: calls a function with the next pong. */
  once?(type: "pong", listener: () => void): unknown;
  /** Adds a listener, as on any `EventTarget`. */
  addEventListener(
    type: "message" | "close" | "error",
    listener: (event: MediaEvent) => void,
  ): void;
  /** Removes a listener. */
  removeEventListener(
    type: "message" | "close" | "error",
    listener: (event: MediaEvent) => void,
  ): void;
}

/** A piece of the callee's audio. */
export interface AudioFrame {
  /** 16-bit samples, as the service sent them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Milliseconds from the start of the stream to its first sample, by the audio that came. */
  readonly time: number;
}

/** A key that the callee has pressed. It may be part of a PIN: log none. */
export interface KeyPress {
  /** 0 to 9, A to D, `*` or `#`. */
  readonly key: string;
}

/** How a session ended. */
export interface Closed {
  /** The WebSocket's close code; 1006 when the connection was lost. */
  readonly code: number;
  /** The reason in words; empty when there is none. */
  readonly reason: string;
}

/** Functions that are called with what happens on a stream. What they throw goes to `onError`; the call continues. */
export interface StreamHandlers {
  /**
   * Called once, with the call's ids and how its audio is encoded. The second argument is the context of `signUrl`,
   * where a `service` such as Twilio sends it with `start` and it was verified; else it is `{}`. It is no field of
   * `start`, because anybody can write fields into a message.
   */
  readonly onStart?: ((start: MediaStart, context: Context) => unknown) | undefined;
  /** Called with the callee's audio, in order. A promise is not waited for. */
  readonly onAudio?: ((frame: AudioFrame) => unknown) | undefined;
  /**
   * Called with each key that the callee presses, where a `service` sends it: Twilio, Vonage and Telnyx do, outdial's own
   * interface has no such message.
   */
  readonly onKey?: ((press: KeyPress) => unknown) | undefined;
  /** Called with any other message of the service, as it came. */
  readonly onMessage?: ((message: MediaOther) => unknown) | undefined;
  /** Called once, when either side has ended the stream. */
  readonly onClose?: ((closed: Closed) => unknown) | undefined;
  /**
   * Called with malformed messages (`FrameException`) and with errors that the other handlers throw. Left out, the
   * latter are printed with `console.error`.
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** How long a peer may take to answer a close, in ms. */
const closeTimeout = 2000;

/**
 * Cuts the connection of a socket that is being closed, if its peer doesn't answer the close in time: else the socket
 * stays open for as long as the peer likes. Only some sockets can be cut.
 *
 * @returns the timer, to be cleared once the socket is closed; nothing for a socket that can't be cut
 */
export const cutInTime = (socket: {
  terminate?(): void;
}): ReturnType<typeof setTimeout> | undefined =>
  isFunction(socket.terminate)
    ? setTimeout(() => withoutThrowing(() => socket.terminate?.()), closeTimeout)
    : undefined;

/** A socket that is attached to its handlers. */
interface AttachedSocket extends Reporter {
  /** Sends messages; returns whether it could. */
  readonly write: (encode: () => readonly MediaMessage[]) => boolean;
  /** Ends the stream and calls `onClose` at once. */
  readonly close: (code?: number, reason?: string) => void;
  readonly isOver: () => boolean;
  /** Whether audio must wait. */
  readonly isFull: () => boolean;
  /** Bytes that the socket buffers for the network. */
  readonly buffered: () => number;
  readonly clock: MediaClock;
}

/** Called once, when a stream has ended, before `onClose`. */
export type OnOver = (isUnverified?: boolean) => void;

/** Calls functions with what comes on a socket, until it has ended. */
export const attach = (
  socket: MediaSocket,
  handlers: StreamHandlers,
  receive: (data: unknown) => void,
  onOver: OnOver,
): AttachedSocket => {
  let isOver = false;
  const { onError } = handlers;
  const reporter = reporterOf(onError && ((error) => handlers.onError?.(error)));
  const { report } = reporter;

  const onMessage = ({ data }: MediaEvent): void => {
    try {
      receive(data);
    } catch (error) {
      report(error);
    }
  };
  const end = (closed: Closed): void => {
    if (isOver) return;
    isOver = true;
    socket.removeEventListener("message", onMessage);
    onOver();
    reporter.call(handlers.onClose, closed);
  };
  const closeSocket = (...how: readonly [code?: number, reason?: string]): void => {
    try {
      socket.close(...how);
    } catch (error) {
      if (how.length > 0) {
        report(error); // Such as a code that is reserved by the protocol.
        closeSocket();
        return;
      } // Else it is closed.
    }
    if (socket.readyState === 3) release();
    else cutTimer = cutInTime(socket);
  };
  const onLost = ({ code = 1006, reason = "" }: Partial<MediaEvent>): void => {
    if (isOver) return;
    end({ code, reason });
    closeSocket(); // Workers leave the answer to the application.
  };
  const onClose = (event: MediaEvent): void => {
    onLost(event);
    release();
  };
  const onSocketError = (): void => onLost({});
  let cutTimer: ReturnType<typeof cutInTime>;
  /** Only once it is closed: with `ws`, an error that nobody listens to ends the process. */
  const release = (): void => {
    clearTimeout(cutTimer);
    socket.removeEventListener("close", onClose);
    socket.removeEventListener("error", onSocketError);
  };

  socket.addEventListener("message", onMessage);
  socket.addEventListener("close", onClose);
  socket.addEventListener("error", onSocketError);
  if (socket.readyState > 1) queueMicrotask(onSocketError);

  const buffered = (): number => socket.bufferedAmount ?? 0;
  return {
    ...reporter,
    write: (encode) => {
      try {
        const isOpen = !(isOver || socket.readyState > 1);
        if (isOpen) for (const message of encode()) socket.send(message);
        return isOpen;
      } catch (error) {
        report(error);
        return false;
      }
    },
    close: (code = 1000, reason = "") => {
      if (isOver) return;
      end({ code, reason });
      closeSocket(code, reason);
    },
    isOver: () => isOver,
    isFull: () => socket.readyState === 0 || (socket.readyState === 1 && buffered() > maxBuffered),
    buffered,
    clock: socket.simulation ?? processClock,
  };
};

/** A message on a media socket: text or binary. */
export type MediaMessage = string | Uint8Array<ArrayBuffer>;
