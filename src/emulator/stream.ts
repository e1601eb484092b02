import { safeParse } from "valibot";
import type { Stream } from "../flows/actions.ts";
import type { MediaAudio, MediaStart } from "../flows/media/messages.ts";
import { FromApplication } from "../flows/media/messages.ts";
import { withDeadline } from "../http/deadline.ts";
import { isRecord } from "../lib/check.ts";
import { base64, decoded } from "../lib/encoding.ts";
import { begin, FlowError, type FlowParts, type Perform, waitUntil } from "./actions.ts";
import type { Call } from "./call.ts";
import type { StreamEntry } from "./history.ts";
import { messageOf } from "./outgoing.ts";
import type { ChunkId, Playout } from "./recording/playout.ts";
import type { Cut, Recording } from "./recording/recording.ts";
import { bytesOf, sampleAt, tone } from "./recording/track.ts";

const sampleRates = { "8k": 8_000, "16k": 16_000 } as const;

/** How many bytes may be buffered in the socket before sending pauses. */
const maxBuffered = 2 ** 20;

/** Lets the application respond to what was sent, whatever the clock. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Opens a WebSocket, or throws why it can't be opened. */
const connect = async (
  url: string,
  { WebSocket, responseTimeout }: FlowParts,
  signal: AbortSignal,
): Promise<WebSocket> => {
  if (!WebSocket) {
    throw new TypeError(
      "needs a WebSocket client: use Node 22 or newer, or pass the one of the package ws as the option WebSocket",
    );
  }
  const socket = new WebSocket(url);
  const opened = new Promise<void>((resolve, reject) => {
    const fail = () => reject(new TypeError("could not be opened"));
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

/** Waits while the socket's buffer is full; `false` when it does not shrink in time. */
const drained = async (socket: WebSocket, responseTimeout: number): Promise<boolean> => {
  let least = socket.bufferedAmount;
  let since = Date.now();
  while (socket.readyState === 1 && socket.bufferedAmount > maxBuffered) {
    await nextTurn();
    if (socket.bufferedAmount < least) {
      least = socket.bufferedAmount;
      since = Date.now();
    } else if (Date.now() - since > responseTimeout) return false;
  }
  return true;
};

/** The tone that stands for a callee without a script. It repeats every 100 ms. */
const calleeHertz = 440;

/** Returns the audio of the nth message, in base64. */
type Frames = (index: number) => string;

/** The tone in messages. Messages with the same phase are the same, so each is made once. */
const toneFrames = (sampleRate: number, length: number): Frames => {
  const count = (sampleRate * length) / 1000;
  const made = new Map<number, string>();
  return (index) => {
    const phase = (index * count) % (sampleRate / 10);
    const known = made.get(phase);
    if (known) return known;
    const frame = base64(bytesOf(tone(calleeHertz, sampleRate, phase, count)));
    made.set(phase, frame);
    return frame;
  };
};

/** The callee's audio: what the script says, or a tone. */
const calleeFrames = (call: Call, sampleRate: number, length: number): Frames => {
  const { callee, recording, talkTime: from } = call;
  const count = (sampleRate * length) / 1000;
  if (callee) {
    const start = sampleAt(from, sampleRate);
    return (index) => {
      const mixing = { sampleRate, now: call.talkTime, all: true };
      return base64(bytesOf(recording.side("callee", start + index * count, count, mixing)));
    };
  }
  const frame = toneFrames(sampleRate, length);
  const recorded = recording.callee.openTone(calleeHertz, from, from);
  return (index) => {
    recorded.to = from + (index + 1) * length;
    return frame(index);
  };
};

/**
 * The samples in base64.
 *
 * @throws {TypeError} when it is not base64, or not whole samples
 */
export const samplesOf = (base64: string): Int16Array => {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    if (/[-_]/.test(base64)) throw new TypeError("base64url");
    bytes = decoded(base64);
  } catch {
    throw new TypeError("audio_b64 must be base64");
  }
  if (bytes.length % 2) throw new TypeError("audio_b64 must be whole 16-bit samples");
  return new Int16Array(bytes.buffer);
};

const knownTypes: ReadonlySet<unknown> = new Set(["audio", "interrupt", "clear"]);

const parse = (data: unknown): unknown => {
  if (typeof data !== "string") throw new TypeError("must be text");
  try {
    return JSON.parse(data);
  } catch {
    throw new TypeError("must be JSON");
  }
};

/** The effect of an application's message. */
type Effect =
  | { readonly type: "queued" }
  | { readonly type: "clear"; readonly samples: number }
  | { readonly type: "interrupt"; readonly samples: number; readonly chunk_id: ChunkId }
  /** The emulator does not know this type; it may mean something to a service. */
  | { readonly type: "ignored"; readonly name: string };

/**
 * Applies a message of an application to the playout.
 *
 * @param now - the current sample
 * @throws {TypeError} when the message is malformed
 */
const applyMessage = (playout: Playout, data: unknown, now: number): Effect => {
  const message = parse(data);
  const name = isRecord(message) ? message.type : undefined;
  if (typeof name === "string" && !knownTypes.has(name)) return { type: "ignored", name };
  const { success, output, issues } = safeParse(FromApplication, message);
  if (!success) {
    const { path, message: rule } = issues[0];
    throw new TypeError([path?.map(({ key }) => key).join("."), rule].filter(Boolean).join(" "));
  }
  if (output.type === "clear") return { type: "clear", samples: playout.clear(now) };
  if (output.type === "interrupt") {
    const { chunk_id } = output;
    return { type: "interrupt", chunk_id, samples: playout.interrupt(chunk_id, now) };
  }
  const { audio_b64, chunk_id } = output;
  if (playout.enqueue(samplesOf(audio_b64), chunk_id, now)) return { type: "queued" };
  throw new TypeError("is more than the ten minutes of speech that are kept of a call");
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
  readonly #onCut: (cut: Cut) => void;
  readonly #malformed: string[] = [];
  readonly #ignored = new Set<string>();
  #received = 0;
  #malformedCount = 0;
  #cuts = 0;

  /** @param onCut - called for the first 100 cuts */
  constructor(recording: Recording, sampleRate: number, onCut: (cut: Cut) => void) {
    this.#recording = recording;
    this.#playout = recording.open(sampleRate);
    this.#onCut = onCut;
  }

  get counts(): Pick<StreamEntry, "received" | "malformed" | "malformed_count" | "ignored"> {
    return {
      received: this.#received,
      malformed: [...this.#malformed],
      malformed_count: this.#malformedCount,
      ignored: [...this.#ignored],
    };
  }

  /** @param now - milliseconds since the answer */
  receive(data: unknown, now: number): void {
    this.#received++;
    try {
      const effect = applyMessage(this.#playout, data, sampleAt(now, this.#playout.sampleRate));
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
      if (this.#malformed.length < maxDescribed) this.#malformed.push(messageOf(error));
    }
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

/** Connects the call's audio to an application, until either side ends it. */
export const stream: Perform<Stream> = async (streaming, parts) => {
  const { call, action, step, place } = streaming;
  const { ws_url, sample_rate = "8k", chunk_size = 400, record = true, flow_url } = action;
  const { accountId: account_id, responseTimeout } = parts;
  const sampleRate = sampleRates[sample_rate];
  const field = `${place}ws_url`;
  const socket = await connect(ws_url, parts, call.over.signal).catch((error) => {
    throw new FlowError(step, field, messageOf(error));
  });
  const stream_id = `st_${parts.newId(call.timeline.now())}`;
  const from = call.talkTime;
  const receiver = new MessageReceiver(call.recording, sampleRate, ({ type: by, ...cut }) =>
    call.log({ type: "cut", step, by, ...cut }),
  );
  let sent = 0;
  const log = (state: "open" | "closed") =>
    call.log({ type: "stream", step, stream_id, state, from_ms: from, sent, ...receiver.counts });
  const send = (message: Omit<MediaStart, "message_id"> | Omit<MediaAudio, "message_id">) =>
    socket.send(JSON.stringify({ ...message, message_id: ++sent }));
  const isOpen = () => socket.readyState === 1;

  begin(streaming);
  log("open");
  if (!record) call.recording.pause(from);
  socket.addEventListener("message", ({ data }) => receiver.receive(data, call.talkTime));
  socket.addEventListener("close", () => call.timeline.skip());
  call.over.signal.addEventListener("abort", () => socket.close(1000));
  const data = { encoding: "audio/l16", sample_rate: sampleRate, channels: 1 } as const;
  send({ type: "start", account_id, call_id: call.id, stream_id, data });
  await nextTurn();
  const frame = calleeFrames(call, sampleRate, chunk_size);
  let isRead = true;
  for (let index = 0; isRead && isOpen(); index++) {
    await waitUntil(call, from + (index + 1) * chunk_size, isOpen);
    isRead = await drained(socket, responseTimeout);
    if (isRead && isOpen()) {
      send({ type: "audio", stream_id, data: { audio_b64: frame(index) } });
      await nextTurn();
    }
  }
  socket.close(1000);
  receiver.end(call.talkTime);
  if (!record) call.recording.resume(call.talkTime);
  log("closed");
  if (!isRead) throw new FlowError(step, field, "took nothing that was sent");
  return flow_url;
};
