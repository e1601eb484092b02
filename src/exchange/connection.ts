import type { Call } from "../emulator/call.ts";
import { sampleAt } from "../emulator/recording/track.ts";
import type { LineMedia } from "../emulator/stream.ts";
import type { Side } from "../performer/media-socket.ts";
import type { AriClient } from "./ari.ts";
import { connectMedia, disconnectMedia, lineRate, Media } from "./media.ts";

/** How far the telephone's count of its packets may be from our clock, in milliseconds. */
const maxDrift = 60;

/** How long packets come so far from their time, in milliseconds, and by how much less, until what has waited for a stall to end is known. */
const settleTime = 60;
const leastGain = 10;

/** How much of a second telephone's sound may wait, in milliseconds: more is dropped, as it would stay late. */
const maxWaiting = 60;

const ms = (samples: number): number => (samples * 1_000) / lineRate;

/** Gets a packet of one side, and when it begins, in milliseconds since the answer. */
export type OnFrame = (side: Side, from: number, samples: Int16Array) => void;

/**
 * Places a telephone's packets, which have no times, by their count. All numbers are in samples since the answer.
 *
 * A telephone sends nothing while a key is pressed, nor while it holds the call: then its packets come late by as much from then
 * on. Packets that have waited for a stall to end come faster than they are long, until they are in time again.
 */
export class PacketTimes {
  /** Where the next packet belongs; absent before the first. */
  next: number | undefined;
  /** Since when packets come far from where they belong, and how far. */
  #far: { readonly since: number; readonly by: number } | undefined;

  /** Returns where a packet belongs that has come now. */
  place(now: number, length: number): number {
    // What has come just now was said in the time before.
    const said = Math.max(0, now - length);
    const next = this.#settled(now, said, this.next ?? said);
    this.next = next + length;
    return next;
  }

  #settled(now: number, said: number, next: number): number {
    const by = Math.abs(said - next);
    if (by <= sampleAt(maxDrift, lineRate)) {
      this.#far = undefined;
      return next;
    }
    this.#far ??= { since: now, by };
    const { since, by: before } = this.#far;
    if (now - since < sampleAt(settleTime, lineRate)) return next;
    const isGaining = by <= before - sampleAt(leastGain, lineRate);
    this.#far = isGaining ? { since: now, by } : undefined;
    return isGaining ? next : said;
  }
}

/**
 * The callee's telephone in a call: it hears what applications and second telephones say, and what it says is recorded and
 * passed on.
 */
export class Connection implements LineMedia {
  readonly #call: Call;
  readonly #media: Media;
  readonly #listeners = new Set<(samples: Int16Array<ArrayBuffer>) => void>();
  readonly #times = new PacketTimes();
  readonly #onFrame: OnFrame;

  /** @param onFrame - called with each packet of both sides, but for those that aren't recorded */
  constructor(call: Call, socket: WebSocket, onGone: () => void, onFrame: OnFrame = () => {}) {
    const { recording } = call;
    this.#call = call;
    this.#onFrame = (...frame) => recording.isPaused || onFrame(...frame);
    this.#media = new Media(socket, {
      now: () => call.talkTime,
      output: (from, duration) => {
        const { sampleRate } = recording;
        const mixing = { sampleRate, now: from + duration, all: true };
        const [first, count] = [sampleAt(from, sampleRate), sampleAt(duration, sampleRate)];
        return { samples: recording.side("application", first, count, mixing), sampleRate };
      },
      onOutput: (from, samples) => this.#onFrame("application", from, samples),
      onHeld: (from, to) => recording.hold(from, to),
      onInput: (samples) => this.#receive(samples),
      onGone,
    });
  }

  get received(): number {
    const { next } = this.#times;
    return next === undefined ? this.#call.talkTime : ms(next);
  }

  get position(): number {
    return this.#media.position;
  }

  get latency(): number {
    return this.#media.latency;
  }

  onPacket(listener: (samples: Int16Array<ArrayBuffer>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#media.close();
  }

  /**
   * Connects another answered telephone with this one.
   *
   * @returns a function that separates the two
   */
  async join(ari: AriClient, channel: string, onGone: () => void): Promise<() => void> {
    const { media } = this.#call.recording;
    let next = 0;
    const socket = await connectMedia(ari, channel);
    const second = new Media(socket, {
      now: () => this.#call.talkTime,
      onHeld: () => {},
      onInput: (samples) => {
        const position = sampleAt(this.position, lineRate);
        next = Math.max(next, position);
        if (next - position > sampleAt(maxWaiting, lineRate)) return;
        media.add({ from: next, samples, sampleRate: lineRate });
        next += samples.length;
      },
      onGone,
    });
    socket.addEventListener("close", onGone);
    const stopRelaying = this.onPacket((samples) => second.relay(samples));
    return () => {
      stopRelaying();
      second.close();
      disconnectMedia(ari, channel);
    };
  }

  #receive(samples: Int16Array<ArrayBuffer>): void {
    const now = sampleAt(this.#call.talkTime, lineRate);
    const from = this.#times.place(now, samples.length);
    this.#call.recording.callee.add({ from, samples, sampleRate: lineRate });
    this.#onFrame("callee", ms(from), samples);
    for (const listener of this.#listeners) listener(samples);
  }
}
