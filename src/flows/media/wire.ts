import { base64 } from "../../bytes/base64.ts";
import { tellerOf } from "../../rules/teller.ts";
import type { MediaClear, MediaInterrupt, MediaSpeech, NestedMediaSpeech } from "./application.ts";
import { audioOf, FrameException, frameIn, isOther, messageIn } from "./frame.ts";
import type { Closed, StreamHandlers, StreamOptions } from "./options.ts";
import type { MediaStart } from "./service.ts";
import type { MediaEvent, MediaSocket } from "./socket.ts";

/** The media messages over one socket: what goes is written at once. */
export interface Wire {
  /** Says something in one message: its `chunk_id`, or nothing when it couldn't be said. */
  readonly say: (bytes: Uint8Array) => string | undefined;
  /** Sends anything else, and says whether it could. */
  readonly send: (message: MediaInterrupt | MediaClear) => boolean;
  /** Ends the stream; `onClose` hears of it at once. */
  readonly close: (code?: number, reason?: string) => void;
  /** What went wrong, to `onError`. */
  readonly report: (error: unknown) => void;
  /** Whether it has ended. */
  readonly isOver: boolean;
  /** Samples a second, as far as it is known. */
  readonly sampleRate: number;
  /** Bytes that the socket holds for the network. */
  readonly buffered: number;
}

/**
 * Speaks the media messages over a WebSocket.
 *
 * @param over - is done once, when it has ended, before `onClose` hears of it
 */
export const wireOn = (
  socket: MediaSocket,
  handlers: StreamHandlers,
  { form = "flat" }: StreamOptions,
  over: () => void = () => {},
): Wire => {
  let start: MediaStart | undefined;
  let heard = 0;
  let said = 0;
  let ended = false;
  const { report, tell } = tellerOf((error) => handlers.onError?.(error));

  const send = (
    message: MediaSpeech | NestedMediaSpeech | MediaInterrupt | MediaClear,
  ): boolean => {
    try {
      const isOpen = !(ended || socket.readyState > 1);
      if (isOpen) socket.send(JSON.stringify(message));
      return isOpen;
    } catch (error) {
      report(error);
      return false;
    }
  };

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
    over();
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
    say: (bytes) => {
      const chunk_id = String(++said);
      const speech = { audio_b64: base64(bytes), chunk_id };
      const message = form === "flat" ? speech : { data: speech };
      return send({ type: "audio", ...message }) ? chunk_id : undefined;
    },
    send,
    close: (code = 1000, reason = "") => {
      if (ended) return;
      end({ code, reason });
      shut(code, reason);
    },
    report,
    get isOver() {
      return ended;
    },
    get sampleRate() {
      return start?.data.sample_rate ?? 8000;
    },
    get buffered() {
      return socket.bufferedAmount ?? 0;
    },
  };
};
