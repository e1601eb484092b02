import { withDeadline } from "../http/deadline.ts";
import type { VirtualClock } from "../lib/clock.ts";
import { isLoopback } from "../lib/url.ts";
import { FlowError } from "../performer/line.ts";
import {
  type AudioMessage,
  type MediaSocket,
  type Output,
  ProtocolViolation,
  type Side,
  type SocketCodec,
  type SocketData,
  UnkeptAudio,
} from "../performer/media-socket.ts";
import type { Cut, StreamEntry } from "../server/history.ts";
import { messageOf } from "../server/outgoing.ts";
import type { Call } from "./call.ts";
import type { Timeline } from "./clock.ts";
import type { SocketConstructor } from "./options.ts";
import type { Playout } from "./recording/playout.ts";
import type { Mixing, Recording } from "./recording/recording.ts";
import { sampleAt, tone } from "./recording/track.ts";

/** Some of the callee's audio on its way to a media socket. */
interface LineAudio {
  readonly samples: Int16Array;
  /** The first sample, since the answer. */
  readonly first: number;
  /** All of the call, such as what the line sends back as an echo. */
  readonly recording: Recording;
  readonly mixing: Mixing;
}

/** What a bad line makes of the callee's audio; nothing where it is lost. */
export type Impairment = (audio: LineAudio) => Int16Array | undefined;

/** The part of a WebSocket that a stream needs. */
export interface StreamSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  binaryType: string;
  send(message: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  addEventListener(
    type: "open" | "message" | "close" | "error",
    listener: (event: { readonly data?: unknown }) => void,
  ): void;
}

/** The media of a real line, whose audio comes and goes by a clock of its own. Times are in milliseconds since the answer. */
export interface LineMedia {
  /** The end of the callee's audio that has come. */
  readonly received: number;
  /** The end of what was given to the line to be played. */
  readonly position: number;
  /** Calls a function with each packet of the callee's, until the returned function is called. */
  readonly onPacket: (listener: () => void) => () => void;
}

/** What media sockets need of the emulator. */
export interface StreamParts {
  /** `undefined` where the platform has none. */
  readonly WebSocket: SocketConstructor | undefined;
  /** Milliseconds of real time for each response of an application. */
  readonly responseTimeout: number;
  /** Whose time it is: where it isn't real, a media socket needs `untimedMedia` or `openSocket`. */
  readonly clock: "real" | "instant" | VirtualClock;
  readonly untimedMedia?: boolean | undefined;
  /** Opens a socket, in the place of `WebSocket`: a simulated one, or one of an exchange. */
  readonly openSocket?:
    | ((url: string, headers?: Readonly<Record<string, string>>) => StreamSocket)
    | undefined;
  /** Called with each frame of the callee's audio: when it is sent, since the answer, and by how much it is late, in ms. */
  readonly onFrame?: ((ms: number, late: number) => void) | undefined;
  /** Called when an application sends more audio than is kept of a call: it is dropped. */
  readonly onUnkept?: (() => void) | undefined;
  /** Absent on a line without faults. */
  readonly impair?: Impairment | undefined;
}

/** How many bytes may be buffered in the socket before sending pauses. */
const maxBuffered = 2 ** 20;

/** A socket with headers in its handshake; without them on platforms that can't send any, as browsers. */
const constructSocket = (
  WebSocket: SocketConstructor,
  url: string,
  headers: Readonly<Record<string, string>> | undefined,
): StreamSocket => {
  if (!headers) return new WebSocket(url);
  try {
    return Reflect.construct(WebSocket, [url, { headers }]);
  } catch {
    return new WebSocket(url);
  }
};

/** The next step where the URL names another machine. */
const hintFor = (url: string): string =>
  isLoopback(url.replace(/^ws/i, "http"))
    ? ""
    : "; if it leads to this machine, start outdial emulator with --forward-to";

/** Opens a WebSocket, or throws why it can't be opened. */
const connect = async (
  { url, headers, signal }: Pick<Streaming, "url" | "headers" | "signal">,
  { WebSocket, openSocket, responseTimeout }: StreamParts,
): Promise<StreamSocket> => {
  const socket =
    openSocket?.(url, headers) ?? (WebSocket && constructSocket(WebSocket, url, headers));
  if (!socket) {
    throw new TypeError(
      "needs a WebSocket client: use Node 22 or newer, or pass the one of the package ws as the option WebSocket",
    );
  }
  socket.binaryType = "arraybuffer";
  const opened = new Promise<void>((resolve, reject) => {
    const fail = () => reject(new TypeError(`could not be opened${hintFor(url)}`));
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", fail);
    socket.addEventListener("close", fail);
  });
  const late = () => new TypeError(`did not open within ${responseTimeout} ms`);
  try {
    await withDeadline(responseTimeout, signal, late, () => opened);
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
};

/** Ends a socket as if its connection were lost, where the platform can do that; with a status of its own elsewhere. */
const breakOff = (socket: StreamSocket): void => {
  if ("terminate" in socket && typeof socket.terminate === "function") socket.terminate();
  else socket.close(3006);
};

/** Waits while the socket's buffer is full; `false` when it does not shrink in time. */
const drained = async (
  socket: StreamSocket,
  responseTimeout: number,
  timeline: Timeline,
): Promise<boolean> => {
  let least = socket.bufferedAmount;
  let since = Date.now();
  while (socket.readyState === 1 && socket.bufferedAmount > maxBuffered) {
    await timeline.turn();
    if (socket.bufferedAmount < least) {
      least = socket.bufferedAmount;
      since = Date.now();
    } else if (Date.now() - since > responseTimeout) return false;
  }
  return true;
};

/** The tone that stands for a callee without a script. It repeats every 100 ms. */
const calleeHertz = 440;

/** Returns the audio of the nth message; nothing when the line has lost it. */
type Frames = (index: number) => AudioMessage | undefined;

/** The tone in messages. Messages with the same phase are the same, so each is made once. */
const toneFrames = (codec: SocketCodec): ((index: number) => AudioMessage) => {
  const { sampleRate, frameDuration, encode } = codec;
  const count = (sampleRate * frameDuration) / 1000;
  const made = new Map<number, AudioMessage>();
  return (index) => {
    const phase = (index * count) % (sampleRate / 10);
    const known = made.get(phase);
    if (known !== undefined) return known;
    const frame = encode(tone(calleeHertz, sampleRate, phase, count));
    made.set(phase, frame);
    return frame;
  };
};

/**
 * The audio of one side of the call: what was said, or a tone for a callee without a script.
 *
 * @param from - when the first message begins, in milliseconds since the answer
 */
const framesOf = (
  call: Call,
  from: number,
  side: Side,
  codec: SocketCodec,
  impair: Impairment | undefined,
  isReal: boolean,
): Frames => {
  const { callee, recording } = call;
  const { sampleRate, frameDuration, encode } = codec;
  if (callee || isReal || side === "application") {
    const count = (sampleRate * frameDuration) / 1000;
    const start = sampleAt(from, sampleRate);
    return (index) => {
      const mixing = { sampleRate, now: call.talkTime, all: true };
      const first = start + index * count;
      const samples = recording.side(side, first, count, mixing);
      if (!impair || side === "application") return encode(samples);
      const impaired = impair({ samples, first, recording, mixing });
      return impaired && encode(impaired);
    };
  }
  const frame = toneFrames(codec);
  const recorded = recording.callee.openTone(calleeHertz, from, from);
  return (index) => {
    recorded.to = from + (index + 1) * frameDuration;
    return frame(index);
  };
};

/** How many malformed messages and unknown types of a stream are described. */
const maxDescribed = 5;

/** How much of an unknown type is kept. */
const maxTypeLength = 40;

/** How many cuts of a stream are logged. */
const maxLoggedCuts = 100;

/** Receives an application's messages on one stream, and counts them. */
class MessageReceiver {
  readonly #recording: Recording;
  readonly #playout: Playout;
  readonly #apply: SocketCodec["apply"];
  readonly #onCut: (cut: Cut) => void;
  readonly #onUnkept: (() => void) | undefined;
  readonly #malformed: string[] = [];
  readonly #ignored = new Set<string>();
  #received = 0;
  #malformedCount = 0;
  #cuts = 0;

  /**
   * @param onCut - called for the first 100 cuts
   * @param onUnkept - called for audio that is dropped, as it is more than is kept
   */
  constructor(
    recording: Recording,
    { sampleRate, apply }: Pick<SocketCodec, "sampleRate" | "apply">,
    onCut: (cut: Cut) => void,
    onUnkept: (() => void) | undefined,
  ) {
    this.#recording = recording;
    this.#playout = recording.open(sampleRate);
    this.#apply = apply;
    this.#onCut = onCut;
    this.#onUnkept = onUnkept;
  }

  get counts(): Pick<StreamEntry, "received" | "malformed" | "malformed_count" | "ignored"> {
    return {
      received: this.#received,
      malformed: [...this.#malformed],
      malformed_count: this.#malformedCount,
      ignored: [...this.#ignored],
    };
  }

  /**
   * @param now - milliseconds since the answer
   * @returns whether the socket stays open
   */
  receive(data: unknown, now: number): boolean {
    this.#received++;
    try {
      const effect = this.#apply(data, this.#playout, sampleAt(now, this.#playout.sampleRate));
      if (effect.type === "ignored") {
        if (this.#ignored.size < maxDescribed) {
          this.#ignored.add(effect.name.slice(0, maxTypeLength));
        }
      } else if (effect.type !== "queued") {
        const { type, ...cut } = effect;
        this.#cut({ type, at_ms: now, ...cut });
      }
    } catch (error) {
      this.#malformedCount++;
      if (error instanceof UnkeptAudio) this.#onUnkept?.();
      if (this.#malformed.length < maxDescribed) this.#malformed.push(messageOf(error));
      return !(error instanceof ProtocolViolation);
    }
    return true;
  }

  /** What the application has queued. */
  get output(): Output {
    return this.#playout;
  }

  /** Drops what is still queued when the stream ends. */
  end(now: number): void {
    this.#playout.clear(sampleAt(now, this.#playout.sampleRate));
  }

  #cut(cut: Cut): void {
    this.#recording.cut(cut);
    if (++this.#cuts <= maxLoggedCuts) this.#onCut(cut);
  }
}

/** A media socket, and when it ends. */
interface Streaming extends MediaSocket {
  /** Absent on a simulated line. */
  readonly media?: LineMedia | undefined;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** The time of the stream. */
  readonly timeline: Timeline;
}

/** How long the callee's next packet is waited for until other messages are sent, in milliseconds. */
const longestWait = 100;

/** Why a media socket is refused on the instant clock, as the end of a sentence. */
const isUntimed =
  'needs clock: "real", or simulateCall of outdial/testing: on the instant clock its times are wrong; untimedMedia: true allows that';

/**
 * Connects the call's audio to an application, until either side ends it.
 *
 * @throws {FlowError} when the time isn't real, the socket can't be opened, or the application reads nothing
 */
export const runStream = async (
  call: Call,
  streaming: Streaming,
  parts: StreamParts,
): Promise<void> => {
  const { step, field, code, record, signal, timeline, media, onOpen } = streaming;
  const { responseTimeout, impair, onFrame, onUnkept, clock, untimedMedia, openSocket } = parts;
  if (clock !== "real" && !untimedMedia && !openSocket)
    throw new FlowError(step, field, isUntimed, code);
  const socket = await connect(streaming, parts).catch((error) => {
    throw new FlowError(step, field, messageOf(error), code);
  });
  const codec = onOpen();
  const { stream_id, sides, sampleRate, frameDuration, due, nextDue } = codec;
  const from = media?.received ?? call.talkTime;
  const position = () => media?.position ?? call.talkTime;
  const logCut = ({ type: by, ...cut }: Cut) => call.log({ type: "cut", step, by, ...cut });
  const receiver = new MessageReceiver(call.recording, codec, logCut, onUnkept);
  let sent = 0;
  const log = (state: "open" | "closed") =>
    call.log({ type: "stream", step, stream_id, state, from_ms: from, sent, ...receiver.counts });
  const isOpen = () => socket.readyState === 1;
  const send = (...messages: readonly SocketData[]): void => {
    for (const message of messages) {
      if (!isOpen()) return;
      socket.send(message);
      sent++;
    }
  };
  const sendDue = () => due && send(...due(receiver.output, sampleAt(position(), sampleRate)));

  let isBroken = false;
  log("open");
  // A carrier has heard the whole of a key before it asks for what follows.
  if (!media) call.recording.callee.endKey(from);
  if (!record) call.recording.pause(from);
  socket.addEventListener("message", ({ data }) => {
    if (isBroken) return;
    isBroken = !receiver.receive(data, position());
    if (isBroken) breakOff(socket);
    else sendDue();
  });
  socket.addEventListener("close", () => timeline.skip());
  signal.addEventListener("abort", () => {
    send(...codec.closing());
    socket.close(1000);
  });
  send(...codec.opening());
  await timeline.turn();
  const frames = sides.map((side) => ({
    side,
    frame: framesOf(call, from, side, codec, impair, !!media),
  }));
  const stopWaking = media?.onPacket(() => timeline.skip());
  /** Waits until a moment of the call, and sends what is due before. */
  const waitFor = async (end: number): Promise<void> => {
    if (media) {
      while (media.received < end && isOpen()) {
        await timeline.wait(longestWait);
        sendDue();
      }
      return;
    }
    for (let isDue = true; isDue && isOpen(); ) {
      const dueAt = nextDue?.(receiver.output) ?? Number.POSITIVE_INFINITY;
      const next = Math.ceil((dueAt * 1000) / sampleRate);
      isDue = next < end;
      await call.waitUntil(Math.min(next, end), isOpen, timeline);
      sendDue();
    }
  };
  let isRead = true;
  for (let index = 0; isRead && isOpen(); index++) {
    const due = from + (index + 1) * frameDuration;
    await waitFor(due);
    onFrame?.(call.talkTime, Math.max(0, call.talkTime - due));
    isRead = await drained(socket, responseTimeout, timeline);
    if (isRead && isOpen()) {
      for (const { side, frame } of frames) {
        const encoded = frame(index);
        if (encoded) send(encoded(index * frameDuration, side));
      }
      await timeline.turn();
    }
  }
  stopWaking?.();
  socket.close(1000);
  receiver.end(position());
  if (!record) call.recording.resume(call.talkTime);
  log("closed");
  if (!isRead) throw new FlowError(step, field, "took nothing that was sent");
};
