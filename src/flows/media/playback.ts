import { withoutThrowing } from "../../lib/check.ts";
import { type MediaClock, processClock } from "../../lib/clock.ts";
import { keepNewest } from "../../lib/newest.ts";
import { AudioQueue, createSender, maxBuffered, type Sender } from "./audio-queue.ts";
import type { MediaClear } from "./messages.ts";

/** What a service acknowledges to have played: times of a playback's own clock. */
export interface Acknowledged {
  /** A message was sent, whose audio plays from one time until another if the service is not behind. */
  readonly sent: (id: string, from: number, until: number) => void;
  /**
   * The time of the playback's clock up to which audio was played: when a `clear` reaches the service, or until the other side
   * had left.
   */
  readonly playedAt: (now: number, isLeft: boolean) => number;
  /** When the last of it was acknowledged, by the clock of the playback; `Infinity` while some is not. */
  readonly lastAt: () => number;
  /** A playback uses it, and sends nothing before. */
  readonly use: () => unknown;
}

/** The line that a playback sends to. */
export interface PlaybackLine {
  /** Sends one message of audio; returns its id, or nothing when it couldn't be sent. */
  readonly sendAudio: (samples: Uint8Array) => string | undefined;
  /** Drops the audio that the service has queued. */
  readonly send: (message: MediaClear) => unknown;
  /** Bytes that the socket buffers for the network. */
  readonly buffered: () => number;
  /** Bytes of PCM in one of those bytes: 0.75 for base64, by default. */
  readonly pcmPerByte?: number | undefined;
  /** Milliseconds that the network takes both ways, where they are known and nothing is acknowledged. */
  readonly roundTrip?: number | undefined;
  /** Absent where a service does not acknowledge what it has played. */
  readonly acknowledged?: Acknowledged | undefined;
  /** The time of its socket; that of the process by default. */
  readonly clock?: MediaClock | undefined;
}

/** How a playback is set up. */
export interface PlaybackOptions {
  /** Samples per second. */
  readonly sampleRate: number;
  /** The maximum length of the audio in a message, in ms. */
  readonly chunkSize: number;
  /** Whether the agent sends audio all the time, silence included. Then it is sent as late as possible. */
  readonly isContinuous: boolean;
  /** Called for each message with its delay in ms: 0 unless the audio had run out within a response. */
  readonly onSent: (late: number) => void;
}

/** How much of an item had been played when it was interrupted. */
export interface PlayedItem {
  /** The name of the item. */
  readonly item: string;
  /** Milliseconds that were played: at most those that were sent. */
  readonly played: number;
  /** Milliseconds that had been received from the agent. */
  readonly duration: number;
}

interface Item {
  readonly name: string;
  readonly response: string | undefined;
  /** Milliseconds that were received from the agent. */
  duration: number;
  /** Milliseconds of the spans that were played to their end and removed. */
  over: number;
  /** Spans that were sent: when each starts to play, and its length. */
  spans: { readonly from: number; readonly ms: number }[];
  /** Whether audio of two items alternates: then more audio of this item may come. */
  isInterleaved: boolean;
}

/** How far ahead of the playback audio is sent, in ms. The rest waits in the queue. */
const ahead = 500;

/** When less than this is left to play, a short message is sent too, in ms. */
const low = 100;

/** How long a short piece waits for more of its response, in ms: fewer messages cost less. */
const patience = 60;

/** A short piece waits only while this much is left to play, in ms. So the first piece never waits. */
const reserve = 40;

/** The maximum length of the queue, in ms and in blocks. Audio that exceeds it is dropped. */
const maxQueued = 300_000;
const maxBlocks = 1000;

/** For an agent that does not name its responses: after a gap of this length a new response begins, in ms. */
const pause = 500;

/** How much later than by our clock audio may be played, because of the network, in ms. */
const margin = 250;

/** The maximum number of open responses, of cancelled responses, and of items that are kept. */
const maxResponses = 64;
const maxItems = 1000;

/** Differences below this are rounding errors, in ms. */
const epsilon = 0.001;

/** Milliseconds of an item that were played up to some time. */
const playedOf = ({ spans, over }: Item, now: number): number =>
  spans.reduce((sum, { from, ms }) => sum + Math.min(ms, Math.max(0, now - from)), over);

const remember = (names: Set<string>, name: string): void => {
  names.delete(name);
  names.add(name);
  keepNewest(names, maxResponses);
};

/**
 * Plays an agent's audio. It sends at most a second ahead of what was played, and computes how much of each
 * item was played. It uses its own clock, and what the service acknowledges, if it does. `clear` silences it in the
 * same turn of the event loop.
 */
export class Playback {
  readonly #line: PlaybackLine;
  readonly #clock: MediaClock;
  readonly #options: PlaybackOptions;
  readonly #bytesPerMs: number;
  readonly #queue = new AudioQueue<Item>();
  readonly #sender: Sender;
  #items: Item[] = [];
  /** Responses that may continue, and those that were interrupted. */
  readonly #open = new Set<string>();
  readonly #cancelled = new Set<string>();
  #queuedAt = 0;
  /** When the playback of all sent audio ends. */
  #sentUntil = Number.NEGATIVE_INFINITY;
  /** The response that was sent last, and whether audio was sent since the last `clear`. */
  #lastResponse: string | undefined;
  #hasSent = false;
  /** Whether the queued audio is complete: no response is open. */
  #isComplete = false;
  /** Whether the conversation ends once all of it was played. */
  isEnding = false;

  constructor(line: PlaybackLine, options: PlaybackOptions) {
    this.#line = line;
    this.#clock = line.clock ?? processClock;
    this.#options = options;
    this.#bytesPerMs = (options.sampleRate * 2) / 1000;
    this.#sender = createSender(
      this.#queue,
      () => this.#due() - this.#clock.now(),
      () => this.#buffered() > maxBuffered,
      () => this.#send(),
      this.#clock,
    );
    line.acknowledged?.use();
  }

  /** A response begins. An earlier, cancelled response may have had the same name. */
  begin(response: string): void {
    this.#cancelled.delete(response);
    remember(this.#open, response);
  }

  /** Whether a response was interrupted: the rest of its audio is dropped. */
  isCancelled(response: string | undefined): boolean {
    return response !== undefined && this.#cancelled.has(response);
  }

  /** Queues audio. Returns the milliseconds that were dropped: the response is cancelled, or the queue is full. */
  play(bytes: Uint8Array, name = "", response?: string): number {
    const ms = bytes.length / this.#bytesPerMs;
    const queue = this.#queue;
    const isTooMuch = queue.length / this.#bytesPerMs > maxQueued || queue.blocks >= maxBlocks;
    if (isTooMuch || this.isCancelled(response)) return ms;
    if (bytes.length === 0) return 0;
    if (queue.length === 0) this.#queuedAt = this.#clock.now();
    if (response !== undefined) this.begin(response);
    this.#isComplete = false;
    queue.push(bytes, this.#itemOf(name, response, ms));
    this.#sender.run();
    return 0;
  }

  #itemOf(name: string, response: string | undefined, ms: number): Item {
    const at = this.#items.findLastIndex(
      (item) => item.name === name && item.response === response,
    );
    const found = this.#items[at];
    if (found) {
      found.duration += ms;
      const isLast = at === this.#items.length - 1;
      if (!isLast) for (const item of this.#items.slice(at)) item.isInterleaved = true;
      return found;
    }
    const item = { name, response, duration: ms, over: 0, spans: [], isInterleaved: false };
    this.#items.push(item);
    return item;
  }

  /**
   * A response is complete, also if it was interrupted. Later audio with its name is another response, unless it was
   * cancelled: that audio is late, and dropped.
   */
  end(response: string | undefined, isCancelled = false): void {
    if (response !== undefined) {
      this.#open.delete(response);
      if (isCancelled) remember(this.#cancelled, response);
      else this.#cancelled.delete(response);
    }
    this.#isComplete = !this.isOpen;
    this.#sender.run();
  }

  /** All responses are complete. */
  endAll(): void {
    this.#open.clear();
    this.#isComplete = true;
    this.#sender.run();
  }

  /** Silences the line at once. Returns the interrupted items, in the order in which they began. */
  clear(): readonly PlayedItem[] {
    const now = this.#clock.now();
    const unsent = this.#unsent();
    // The service may be behind our clock.
    const wasPlaying = unsent > 0 || this.#lastAt(0) > now - 1000;
    this.#sender.stop();
    const cuts = this.#cut(this.#playedAt(now));
    for (const response of this.#open) remember(this.#cancelled, response);
    this.#open.clear();
    this.#queue.drop();
    this.#sentUntil = Number.NEGATIVE_INFINITY;
    this.#hasSent = false;
    if (wasPlaying) this.#line.send({ type: "clear" });
    return cuts;
  }

  /**
   * When the callee has heard all audio, and what they said until then has come: not yet while any waits, or a response is
   * open.
   *
   * @param roundTrip - milliseconds both ways of a line that acknowledges nothing
   */
  heardAt(roundTrip: number): number {
    if (this.#queue.length > 0 || this.isOpen) return Number.POSITIVE_INFINITY;
    const unsent = this.#unsent();
    if (unsent > 0) this.#sentUntil = Math.max(this.#sentUntil, this.#clock.now() + unsent);
    return this.#lastAt(roundTrip);
  }

  /** Whether some of an item may not have been played yet. */
  isPlaying(name: string): boolean {
    const now = this.#surelyPlayedAt(this.#clock.now());
    return this.#items.some(
      (item) => item.name === name && playedOf(item, now) < item.duration - epsilon,
    );
  }

  /**
   * Drops the queue and clears the timer. Nothing more is sent. Returns the items that were not played to their end.
   *
   * @param isLeft - whether the other side has left: what was sent since then, or was on its way to it, was not played
   */
  stop(isLeft = false): readonly PlayedItem[] {
    const cuts = this.#cut(this.#playedAt(this.#clock.now(), isLeft));
    this.#sender.stop();
    this.#queue.drop();
    this.#open.clear();
    this.#sentUntil = Number.NEGATIVE_INFINITY;
    return cuts;
  }

  /** When the playback of all received audio ends or ended, by its clock. */
  get until(): number {
    const { length } = this.#queue;
    if (length === 0) return this.#sentUntil;
    return Math.max(this.#sentUntil, this.#clock.now()) + length / this.#bytesPerMs;
  }

  /** Milliseconds until then. */
  get left(): number {
    return this.until - this.#clock.now();
  }

  /** The responses of which more may come. */
  get open(): ReadonlySet<string> {
    return this.#open;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Bytes that the socket buffers: a socket of any make may throw. */
  #buffered(): number {
    return withoutThrowing(() => this.#line.buffered()) ?? 0;
  }

  /** Milliseconds of sent audio that the socket still buffers. */
  #unsent(): number {
    return (this.#buffered() * (this.#line.pcmPerByte ?? 0.75)) / this.#bytesPerMs;
  }

  /** When all that was sent was acknowledged, or is after so many milliseconds where a service acknowledges nothing. */
  #lastAt(roundTrip: number): number {
    const lastAt = this.#line.acknowledged?.lastAt() ?? this.#sentUntil + roundTrip;
    return Math.max(lastAt, this.#sentUntil);
  }

  /** The time up to which audio was played. Audio in the socket's buffer was not played. */
  #playedAt(now: number, isLeft = false): number {
    const { acknowledged, roundTrip = 0 } = this.#line;
    const played = acknowledged?.playedAt(now, isLeft) ?? now - (isLeft ? roundTrip : 0);
    const unsent = this.#unsent();
    return unsent > 0 ? Math.min(played, this.#sentUntil - unsent) : played;
  }

  /** The time up to which audio was played even if the other side has left by now, and the network is slower than ever. */
  #surelyPlayedAt(now: number): number {
    return this.#playedAt(now - Math.max(0, margin - (this.#line.roundTrip ?? 0)), true);
  }

  /** When the next message is due: a whole message early, a partial one as late as possible. */
  #due(): number {
    const { chunkSize, isContinuous } = this.#options;
    const isWhole = this.#isComplete || this.#queue.length >= chunkSize * this.#bytesPerMs;
    if (isWhole && !isContinuous) return this.#sentUntil - ahead;
    const due = Math.max(this.#queuedAt + (isWhole ? 0 : patience), this.#sentUntil - low);
    return isContinuous ? due : Math.min(due, Math.max(this.#queuedAt, this.#sentUntil - reserve));
  }

  #send(): void {
    const size = Math.min(this.#queue.length, this.#options.chunkSize * this.#bytesPerMs);
    const message = new Uint8Array(size);
    const now = this.#clock.now();
    const begin = Math.max(now, this.#sentUntil);
    let from = begin;
    const gap = this.#hasSent ? from - this.#sentUntil : 0;
    const response = this.#queue.next?.response;
    const isSame = response === undefined ? gap < pause : response === this.#lastResponse;
    this.#forgetPlayed(this.#surelyPlayedAt(now));
    for (let at = 0; at < size; ) {
      const part = this.#queue.take(size - at);
      if (!part) break;
      const ms = part.bytes.length / this.#bytesPerMs;
      message.set(part.bytes, at);
      part.tag.spans.push({ from, ms });
      this.#lastResponse = part.tag.response;
      at += part.bytes.length;
      from += ms;
    }
    this.#queuedAt = now;
    this.#sentUntil = from;
    this.#hasSent = true;
    this.#options.onSent(isSame ? gap : 0);
    const id = this.#line.sendAudio(message);
    if (id) this.#line.acknowledged?.sent(id, begin, from);
  }

  #mayContinue({ response }: Item): boolean {
    return response !== undefined && this.#open.has(response);
  }

  /** Forgets items that were played to their end, except those that may be continued. */
  #forgetPlayed(now: number): void {
    for (const item of this.#items) {
      const next = item.spans.findIndex(({ from, ms }) => from + ms > now);
      for (const { ms } of item.spans.splice(0, next < 0 ? item.spans.length : next)) {
        item.over += ms;
      }
    }
    const { length } = this.#items;
    this.#items = this.#items.filter(
      (item, at) =>
        at === length - 1 ||
        item.over < item.duration - epsilon ||
        (at >= length - maxItems && this.#mayContinue(item)),
    );
  }

  #cut(now: number): readonly PlayedItem[] {
    const items = this.#items;
    this.#items = [];
    return items.flatMap((item, at) => {
      const played = playedOf(item, now);
      const isOver = played >= item.duration - epsilon;
      const isLast = at === items.length - 1;
      if (isOver && !((isLast || item.isInterleaved) && this.#mayContinue(item))) return [];
      return [{ item: item.name, played: Math.floor(played), duration: item.duration }];
    });
  }
}
