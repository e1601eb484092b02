import { RefusedException } from "../../callbacks/errors.ts";
import type { Context } from "../../callbacks/signed-url.ts";
import { fail, fieldsOf, isText, withoutThrowing } from "../../lib/check.ts";
import { type MediaClock, processClock } from "../../lib/clock.ts";
import { joined } from "../../lib/encoding.ts";
import type { Rule } from "../../lib/rules.ts";
import type { CarrierMedia, MediaCodec, MediaInput } from "./carrier-media.ts";
import { Marks } from "./marks.ts";
import { FrameException, type MediaStart } from "./messages.ts";
import { onlyWithService, type StartVerifier } from "./signed-start.ts";
import type { MediaMessage } from "./socket.ts";
import { attach, type MediaSocket, type StreamHandlers } from "./socket.ts";

/** The most that is held until `start` is verified, in messages and in their length: that takes milliseconds. */
const maxHeld = 1000;
const maxHeldLength = 1_048_576;

/** How long a socket may stay open without a signed `start`, in ms: anybody can open one. */
const startTimeout = 30_000;

/** How long before what was sent is over the rest of a frame is sent, in ms. */
const reserve = 40;

const lengthOf = (data: unknown): number =>
  isText(data) ? data.length : Number(fieldsOf(data).byteLength);

/** `startVerifier` checks these options. */
const checkedLater: Rule = [() => true, ""];

const optionRules = {
  secret: checkedLater,
  url: checkedLater,
  publicUrl: checkedLater,
  dangerouslyAllowUnverified: checkedLater,
};

/**
 * Calls the handlers with what a codec decodes. Until `start` is verified, none of them is called but `onError`.
 *
 * @param verify - verifies the query that came with `start`
 * @param hold - stops simulated time meanwhile
 */
const createReceiver = (
  decode: MediaCodec["decode"],
  verify: ReturnType<StartVerifier> | undefined,
  hold: MediaClock["hold"],
  {
    onStart,
    onInput,
    onUnverified,
  }: {
    readonly onStart: (start: MediaStart, context: Context) => void;
    readonly onInput: (input: Exclude<MediaInput, { readonly type: "start" }>) => void;
    readonly onUnverified: (error: unknown) => void;
  },
): ((data: unknown) => void) => {
  let stage: "waiting" | "verifying" | "started" = "waiting";
  let held: Exclude<MediaInput, { readonly type: "start" }>[] = [];
  let heldLength = 0;
  const begin = (start: MediaStart, context: Context): void => {
    stage = "started";
    onStart(start, context);
    for (const input of held.splice(0)) onInput(input);
  };
  return (data) => {
    const input = decode(data);
    if (input.type === "start") {
      if (stage !== "waiting") throw new FrameException("The stream has started already");
      if (!verify) return begin(input.start, {});
      stage = "verifying";
      hold(
        verify(input.token).then(
          (context) => begin(input.start, context),
          (error) => {
            held = [];
            onUnverified(error);
          },
        ),
      );
    } else if (!verify || stage === "started" || input.type === "stop") {
      onInput(input);
    } else if (held.length < maxHeld && heldLength + lengthOf(data) <= maxHeldLength) {
      heldLength += lengthOf(data);
      held.push(input);
    } else throw new FrameException("Too much has come before start was verified");
  };
};

/** Cuts audio for a carrier that takes whole frames alone, and keeps what is less than one. */
export class WholeFrames {
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();

  /** What it kept and the next audio, in whole frames of so many bytes. */
  take(pcm: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
    const bytes = joined([this.#rest, pcm]);
    const whole = bytes.length - (bytes.length % size);
    this.#rest = bytes.slice(whole);
    return bytes.slice(0, whole);
  }

  /** What it kept, padded with silence to a frame of so many bytes; empty if it kept nothing. */
  flush(size: number): Uint8Array<ArrayBuffer> {
    const frame = new Uint8Array(this.#rest.length && size);
    frame.set(this.#rest);
    this.clear();
    return frame;
  }

  /** Drops what it kept. */
  clear(): void {
    this.#rest = new Uint8Array();
  }
}

/**
 * The media of a carrier, by its codec.
 *
 * @param newCodec - a codec for one socket
 * @param startVerifier - for a carrier that sends the query of the `ws_url` with `start`
 */
export const carrierMedia = (
  newCodec: () => MediaCodec,
  startVerifier?: StartVerifier,
): CarrierMedia => ({
  optionRules: startVerifier ? optionRules : {},
  openStream: (socket: MediaSocket, handlers: StreamHandlers, options, onOver) => {
    if (!startVerifier && options.secret !== undefined) fail("secret", onlyWithService);
    const verify = startVerifier?.(options);
    const codec = newCodec();
    let started: MediaStart | undefined;
    let isUnverified = false;
    let samples = 0;
    let ids = 0;
    /** The last message that was cleared. */
    let clearedId = 0;
    /** When everything that was sent has been played, if nothing held it up. */
    let playedAt = 0;
    const clock = socket.simulation ?? processClock;
    let cancelFlush = () => {};

    const receive = createReceiver(codec.decode, verify, clock.hold, {
      onStart: (start, context) => {
        if (attached.isOver()) return;
        cancelStart?.();
        started = start;
        attached.call((given: MediaStart) => handlers.onStart?.(given, context), start);
        marks?.probe();
      },
      onInput: (input) => {
        if (input.type === "stop") attached.close();
        else if (attached.isOver()) return;
        else if (input.type === "played") marks?.played(input.mark);
        else if (input.type === "key") attached.call(handlers.onKey, { key: input.key });
        else if (input.type === "other") attached.call(handlers.onMessage, input.message);
        else {
          const { bytes } = input;
          const time = (samples / sampleRate()) * 1000;
          samples += bytes.length / 2;
          attached.call(handlers.onAudio, { bytes, time });
        }
      },
      onUnverified: (error) => refuse(error),
    });
    const refuse = (error: unknown): void => {
      if (attached.isOver()) return;
      attached.report(error);
      isUnverified = true;
      attached.close(1008, "unverified");
    };
    const cancelStart =
      verify && clock.after(startTimeout, () => refuse(new RefusedException("no_token")));
    const attached = attach(socket, handlers, receive, () => {
      cancelStart?.();
      cancelFlush();
      onOver(isUnverified);
    });
    withoutThrowing(() => Object.assign(socket, { binaryType: "arraybuffer" }));

    const sampleRate = () => started?.data.sample_rate ?? 8000;
    const write = (encode: () => readonly MediaMessage[]): boolean =>
      !!started && attached.write(encode);
    const { flush, mark, interrupt } = codec;
    const marks = mark && new Marks((id) => void write(() => mark(id)), clock);
    const clear = (): boolean => {
      clearedId = ids;
      playedAt = 0;
      cancelFlush();
      const isWritten = write(codec.clear);
      marks?.clear();
      return isWritten;
    };
    /** Sends the rest of a frame when nothing has come after it for as long as that is possible. */
    const flushInTime = (ms: number): void => {
      if (!flush) return;
      const now = clock.now();
      playedAt = Math.max(now, playedAt) + ms;
      cancelFlush();
      cancelFlush = clock.after(Math.max(reserve, playedAt - now - reserve), () => write(flush));
    };

    return {
      ...attached,
      sendAudio: (pcm) => {
        const id = String(++ids);
        if (!write(() => codec.audio(pcm, id))) return;
        flushInTime((pcm.length / 2 / sampleRate()) * 1000);
        return id;
      },
      send: (message) => {
        if (message.type === "clear") return clear();
        const id = String(message.chunk_id);
        if (interrupt) return write(() => interrupt(id));
        return Number(id) > clearedId ? clear() : true;
      },
      isFull: () => (!started && !attached.isOver()) || attached.isFull(),
      sampleRate,
      pcmPerByte: codec.pcmPerByte,
      acknowledged: marks,
    };
  },
});
