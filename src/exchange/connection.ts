import type { Call } from "../emulator/call.ts";
import { sampleAt } from "../emulator/recording/track.ts";
import type { LineMedia } from "../emulator/stream.ts";
import type { Side } from "../performer/media-socket.ts";
import type { AriClient } from "./ari.ts";
import { connectMedia, disconnectMedia, lineRate, Media } from "./media.ts";

/** How far the telephone's count of its packets may be from our clock, in milliseconds. */
const maxDrift = 60;

/** Packets that come sooner after each other, in milliseconds, have waited together for a stall to end. */
const shortestInterval = 10;

/** How much of a second telephone's sound may wait, in milliseconds: more is dropped, as it would stay late. */
const maxWaiting = 60;

const ms = (samples: number): number => (samples * 1_000) / lineRate;

/** Gets a packet of one side, and when it begins, in milliseconds since the answer. */
export type OnFrame = (side: Side, from: number, samples: Int16Array) => void;

/**
 * The callee's telephone in a call: it hears what applications and second telephones say, and what it says is recorded and
 * passed on.
 */
export class Connection implements LineMedia {
  readonly #call: Call;
  readonly #media: Media;
  readonly #listeners = new Set<(samples: Int16Array<ArrayBuffer>) => void>();
  /** Where the telephone's next packet belongs, in samples since the answer: by its own count. */
  #next: number | undefined;
  /** How many packets in a row were far from our clock, each in its own time. */
  #drifted = 0;
  #receivedAt = 0;

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
    return this.#next === undefined ? this.#call.talkTime : ms(this.#next);
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
    const clock = performance.now();
    const now = sampleAt(this.#call.talkTime, lineRate);
    // What has come just now was said in the 20 ms before.
    const said = Math.max(0, now - samples.length);
    this.#next ??= said;
    const isPaced = clock - this.#receivedAt >= shortestInterval;
    const isFar = Math.abs(said - this.#next) > sampleAt(maxDrift, lineRate);
    this.#receivedAt = clock;
    this.#drifted = isFar && isPaced ? this.#drifted + 1 : 0;
    // A telephone sends no sound while a key is pressed, nor while it holds the call.
    if (this.#drifted > 1) {
      this.#next = said;
      this.#drifted = 0;
    }
    this.#call.recording.callee.add({ from: this.#next, samples, sampleRate: lineRate });
    this.#onFrame("callee", ms(this.#next), samples);
    this.#next += samples.length;
    for (const listener of this.#listeners) listener(samples);
  }
}
