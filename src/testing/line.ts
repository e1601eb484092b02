import { sampleAt } from "../emulator/recording/track.ts";
import type { Impairment, StreamSocket } from "../emulator/stream.ts";
import type { MediaEvent, MediaSocket } from "../flows/media/socket.ts";
import type { MediaClock } from "../lib/clock.ts";

/** Faults of a simulated line. The same `seed` gives the same faults. */
export interface LineFaults {
  /**
   * Milliseconds that each message takes, each way.
   *
   * @defaultValue 0
   */
  readonly latency?: number | undefined;
  /**
   * Milliseconds that a message may take longer; none overtakes another.
   *
   * @defaultValue 0
   */
  readonly jitter?: number | undefined;
  /**
   * How much of the callee's audio is lost before it reaches the media socket, from 0 to 1: frames are absent, and the
   * next timestamp is later. As much of the application's audio is lost before an `until-keys` hears keys in it.
   *
   * @defaultValue 0
   */
  readonly loss?: number | undefined;
  /**
   * Whether the callee's audio has the band of a telephone, 300 to 3 400 Hz.
   *
   * @defaultValue `false`
   */
  readonly narrowband?: boolean | undefined;
  /** White noise in the callee's audio, in dBFS, such as -50. */
  readonly noise?: number | undefined;
  /** What the application plays comes back 100 ms later, so many dB louder: -30 is a bad telephone. */
  readonly echo?: number | undefined;
  /**
   * The seed of jitter, loss and noise.
   *
   * @defaultValue 1
   */
  readonly seed?: number | undefined;
}

/** Numbers from 0 to 1 that are the same for the same seed: mulberry32. */
const randomOf = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Coefficients of a filter with a band, as a windowed sinc. */
const bandPass = (sampleRate: number, from: number, to: number, taps = 65): Float64Array => {
  const middle = (taps - 1) / 2;
  const low = (hertz: number, at: number) => {
    const x = at - middle;
    const cut = (2 * hertz) / sampleRate;
    return x === 0 ? cut : Math.sin(Math.PI * cut * x) / (Math.PI * x);
  };
  return Float64Array.from({ length: taps }, (_, at) => {
    const window = 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (taps - 1));
    return (low(to, at) - low(from, at)) * window;
  });
};

/** Filters samples as they come. */
const filterOf = (coefficients: Float64Array): ((values: Float64Array) => Float64Array) => {
  let kept = new Float64Array(coefficients.length - 1);
  return (values) => {
    const all = new Float64Array(kept.length + values.length);
    all.set(kept);
    all.set(values, kept.length);
    kept = all.slice(values.length);
    return values.map((_, at) => {
      let sum = 0;
      for (let tap = 0; tap < coefficients.length; tap++)
        sum += (coefficients[tap] ?? 0) * (all[at + tap] ?? 0);
      return sum;
    });
  };
};

/** Whether a line with these faults loses a frame of 20 ms of the application's audio; nothing without loss. */
export const lossOf = ({
  loss = 0,
  seed = 1,
}: LineFaults): ((frame: number) => boolean) | undefined =>
  loss > 0 ? (frame) => randomOf(Math.imul(seed, 7919) + frame)() < loss : undefined;

/** How much later an echo comes, in ms. */
const echoDelay = 100;

const levelOf = (decibels: number): number => 10 ** (decibels / 20);

/** What a line with these faults makes of the callee's audio; nothing without such faults. */
export const impairmentOf = (faults: LineFaults): Impairment | undefined => {
  const { loss = 0, narrowband, noise, echo, seed = 1 } = faults;
  if (!loss && !narrowband && noise === undefined && echo === undefined) return;
  const random = randomOf(seed);
  let filter: ReturnType<typeof filterOf> | undefined;
  return ({ samples, first, recording, mixing }) => {
    const isLost = random() < loss;
    let values = Float64Array.from(samples);
    if (echo !== undefined) {
      const from = first - sampleAt(echoDelay, mixing.sampleRate);
      const back = recording.side("application", from, samples.length, mixing);
      values = values.map((value, at) => value + (back[at] ?? 0) * levelOf(echo));
    }
    if (narrowband) {
      filter ??= filterOf(bandPass(mixing.sampleRate, 300, 3_400));
      values = Float64Array.from(filter(values));
    }
    if (noise !== undefined) {
      // Uniform noise has a root mean square of its peak by the root of 3.
      const peak = 32_768 * levelOf(noise) * Math.sqrt(3);
      values = values.map((value) => value + (2 * random() - 1) * peak);
    }
    if (isLost) return;
    return Int16Array.from(values, (value) =>
      Math.round(Math.max(-32_768, Math.min(32_767, value))),
    );
  };
};

type Listener = (event: MediaEvent) => void;

/** One end of a simulated media socket. */
class SocketEnd implements MediaSocket, StreamSocket {
  readyState: number;
  readonly bufferedAmount = 0;
  binaryType = "arraybuffer";
  readonly simulation: MediaClock;
  readonly #delay: () => number;
  readonly #latency: number;
  #onPong: (() => void) | undefined;
  readonly #listeners = new Map<string, Set<Listener>>();
  #peer: SocketEnd | undefined;
  /** When the latest message arrives at the peer: none overtakes it. */
  #arrival = 0;

  /** @param isOpen - the application gets a socket that it has accepted */
  constructor(simulation: MediaClock, delay: () => number, latency: number, isOpen: boolean) {
    this.readyState = isOpen ? 1 : 0;
    this.simulation = simulation;
    this.#delay = delay;
    this.#latency = latency;
  }

  /** Opens both ends; only the one that asked for the connection is notified. */
  static connect(application: SocketEnd, service: SocketEnd): void {
    service.#peer = application;
    application.#peer = service;
    service.readyState = 1;
    service.#emit({ type: "open" });
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState !== 1) return;
    // A copy, as a network has: the sender may use its bytes again.
    const data = typeof message === "string" ? message : new Uint8Array(message).buffer;
    this.#atPeer((peer) => {
      if (peer.readyState === 1) peer.#emit({ type: "message", data });
    });
  }

  close(code = 1005, reason = ""): void {
    if (this.readyState >= 2) return;
    this.readyState = 2;
    this.#atPeer((peer) => {
      peer.#closed(code, reason);
      peer.#atPeer((self) => self.#closed(code, reason));
    });
  }

  /** Without jitter: the delay of the messages stays what the seed makes it. */
  ping(): void {
    this.simulation.after(2 * this.#latency, () => this.#onPong?.());
  }

  once(_: "pong", listener: () => void): void {
    this.#onPong = listener;
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, (this.#listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener);
  }

  #atPeer(work: (peer: SocketEnd) => void): void {
    const now = this.simulation.now();
    this.#arrival = Math.max(this.#arrival, now + this.#delay());
    this.simulation.after(this.#arrival - now, () => {
      if (this.#peer) work(this.#peer);
    });
  }

  #closed(code: number, reason: string): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#emit({ type: "close", code, reason });
  }

  #emit(event: MediaEvent): void {
    for (const listener of [...(this.#listeners.get(event.type) ?? [])]) listener(event);
  }
}

/** Called with the application's end of a media socket, and with its URL; awaited before the socket opens. */
export type Application = (socket: MediaSocket, url: string) => unknown;

/** Opens the sockets of a simulated line for the emulator, and connects the application to each. */
export const lineSockets =
  (
    { latency = 0, jitter = 0, seed = 1 }: LineFaults,
    simulation: MediaClock,
    connect: Application,
  ) =>
  (url: string): StreamSocket => {
    const random = randomOf(seed + 1);
    const delay = () => latency + jitter * random();
    const service = new SocketEnd(simulation, delay, latency, false);
    const application = new SocketEnd(simulation, delay, latency, true);
    // No time passes: the emulator waits for the socket.
    queueMicrotask(async () => {
      await connect(application, url);
      SocketEnd.connect(application, service);
    });
    return service;
  };
