import { randomBytes } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import type { AddressInfo } from "node:net";
import alawmulaw from "alawmulaw";
import { type Codec, codecs, keyType } from "./sip.ts";

/** The samples of one packet, and its milliseconds. */
const frame = 160;
const frameDuration = 20;

/** A packet that has arrived, or has left. */
export interface Packet {
  /** When, by `performance.now()`. */
  readonly at: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly samples: Int16Array;
}

/** Faults on the way of what a telephone sends. The same seed gives the same faults. */
export interface Faults {
  /** How much is lost, from 0 to 1. */
  readonly loss?: number;
  /** How much later a packet may come, in milliseconds: from 20 on, packets overtake each other. */
  readonly jitter?: number;
  /** Numbers from 0 to 1. */
  readonly random: () => number;
}

const coders = {
  PCMU: alawmulaw.mulaw,
  PCMA: alawmulaw.alaw,
} as const;

const keys = "0123456789*#";

/** How many packets a key of 100 ms has, its end being sent three times (RFC 4733). */
const keyPackets = 5;
const keyEnds = 3;

/** How long it is quiet after a key, in packets. */
const keyPause = 5;

/** What is to be sent. */
type Job =
  | {
      readonly type: "samples";
      readonly samples: Int16Array;
      at: number;
      readonly onBegin: (at: number) => void;
    }
  | {
      readonly type: "key";
      readonly key: string;
      sent: number;
      timestamp: number;
      readonly onBegin: (at: number) => void;
    };

/** The audio of one telephone in one call. */
export class Rtp {
  readonly packets: Packet[] = [];
  /** What was spoken: silence is in none of them. */
  readonly said: Packet[] = [];
  /** The keys that were heard. */
  keys = "";
  /** Whether anything is sent: a telephone may be silent. */
  sends = true;
  onPacket: ((packet: Packet) => void) | undefined;
  readonly #socket: Socket;
  readonly #codec: Codec;
  readonly #faults: Faults | undefined;
  readonly #ssrc = randomBytes(4);
  #target: { readonly address: string; readonly port: number } | undefined;
  #jobs: Job[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  /** How many frames were sent, and the packets that have not left yet, with their milliseconds since the first one. */
  #frames = 0;
  #waiting: { readonly due: number; readonly packet: Buffer }[] = [];
  #sequence = 1;
  #timestamp = 0;
  #lastKey: number | undefined;

  private constructor(socket: Socket, codec: Codec, faults: Faults | undefined) {
    this.#socket = socket;
    this.#codec = codec;
    this.#faults = faults;
    socket.on("message", (bytes) => this.#receive(bytes, performance.now()));
  }

  static async open(address: string, codec: Codec, faults?: Faults): Promise<Rtp> {
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, address, resolve));
    return new Rtp(socket, codec, faults);
  }

  get port(): number {
    return (this.#socket.address() as AddressInfo).port;
  }

  /** Sends packets from now on. */
  start(target: { readonly address: string; readonly port: number }): void {
    this.#target = target;
    if (this.#timer) return;
    const begin = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now() - begin;
      for (; this.#frames * frameDuration <= now; this.#frames++) this.#sendNext();
      this.#sendDue(now);
    }, 5);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }

  /** Speaks samples after all that is to be sent, and returns when the first packet has left. */
  speak(samples: Int16Array): Promise<number> {
    return new Promise((onBegin) => this.#jobs.push({ type: "samples", samples, at: 0, onBegin }));
  }

  /** Presses keys after all that is to be sent, and returns when the first packet of the first key has left. */
  press(pressed: string): Promise<number> {
    return Promise.race(
      [...pressed].map(
        (key) =>
          new Promise<number>((onBegin) =>
            this.#jobs.push({ type: "key", key, sent: 0, timestamp: 0, onBegin }),
          ),
      ),
    );
  }

  /** Stops speaking. */
  hush(): void {
    this.#jobs = [];
  }

  #sendNext(): void {
    const [job] = this.#jobs;
    if (job?.type === "key") this.#sendKey(job);
    else {
      const samples = new Int16Array(frame);
      if (job) {
        if (job.at === 0) job.onBegin(performance.now());
        samples.set(job.samples.subarray(job.at, job.at + frame));
        job.at += frame;
        if (job.at >= job.samples.length) this.#jobs.shift();
      }
      const [at, sequence, timestamp] = [performance.now(), this.#sequence, this.#timestamp];
      if (job) this.said.push({ at, sequence, timestamp, samples });
      const payload = coders[this.#codec].encode(samples);
      this.#send(codecs[this.#codec], this.#frames === 0, timestamp, payload);
    }
    this.#timestamp += frame;
  }

  #sendKey(job: Extract<Job, { readonly type: "key" }>): void {
    const number = job.sent++;
    if (number === 0) {
      job.timestamp = this.#timestamp;
      job.onBegin(performance.now());
    }
    if (number < keyPackets + keyEnds) {
      const isEnd = number >= keyPackets;
      const duration = Math.min(number + 1, keyPackets) * frame;
      const volume = 10;
      const payload = [
        keys.indexOf(job.key),
        (isEnd ? 0x80 : 0) | volume,
        duration >> 8,
        duration & 255,
      ];
      this.#send(keyType, number === 0, job.timestamp, Uint8Array.from(payload));
    }
    if (job.sent >= keyPackets + keyEnds + keyPause) this.#jobs.shift();
  }

  #send(type: number, isMarked: boolean, timestamp: number, payload: Uint8Array): void {
    const packet = Buffer.alloc(12 + payload.length);
    packet[0] = 0x80;
    packet[1] = type | (isMarked ? 0x80 : 0);
    packet.writeUInt16BE(this.#sequence++ & 0xffff, 2);
    packet.writeUInt32BE(timestamp >>> 0, 4);
    this.#ssrc.copy(packet, 8);
    packet.set(payload, 12);
    if (!this.sends) return;
    const { loss = 0, jitter = 0, random } = this.#faults ?? { random: () => 1 };
    if (random() < loss) return;
    this.#waiting.push({ due: this.#frames * frameDuration + random() * jitter, packet });
  }

  /** Sends what is due. The order is that of the faults alone, wherever the machine stalls. */
  #sendDue(now: number): void {
    const due = this.#waiting.filter((each) => each.due <= now);
    this.#waiting = this.#waiting.filter((each) => each.due > now);
    for (const { packet } of due.sort((one, other) => one.due - other.due)) {
      if (this.#target) this.#socket.send(packet, this.#target.port, this.#target.address);
    }
  }

  #receive(bytes: Buffer, at: number): void {
    if (bytes.length < 12) return;
    const type = (bytes[1] ?? 0) & 127;
    const timestamp = bytes.readUInt32BE(4);
    const payload = bytes.subarray(12);
    if (type === keyType) {
      // Each packet of a key has the time stamp of its beginning.
      if (timestamp !== this.#lastKey) this.keys += keys[payload[0] ?? 0] ?? "";
      this.#lastKey = timestamp;
      return;
    }
    const codec = (Object.keys(codecs) as Codec[]).find((name) => codecs[name] === type);
    if (!codec) return;
    const samples = coders[codec].decode(payload);
    const packet = { at, sequence: bytes.readUInt16BE(2), timestamp, samples };
    this.packets.push(packet);
    this.onPacket?.(packet);
  }
}
