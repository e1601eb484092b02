import { fieldsOf, isText, withoutThrowing } from "../lib/check.ts";
import { Resampler } from "../lib/resample.ts";
import { type AriClient, openSocket } from "./ari.ts";

/** The rate of telephones, in samples per second. */
export const lineRate = 8_000;

/** Milliseconds and samples of one packet. */
export const frameDuration = 20;
const frame = (lineRate * frameDuration) / 1_000;

/** How many packets are queued in Asterisk: they cover for one that is late. */
const primed = 2;

/** How often Asterisk's queue is asked for, in milliseconds, and how many answers are judged together. */
const statusInterval = 100;
const judged = 3;

/** How long Asterisk may give no sign of life, in milliseconds. */
const silenceTimeout = 1_000;

/** How late the pump may be, in packets, before what it missed counts as not played. */
const maxLate = 3;

/** How often the pump looks for what is due, in milliseconds. */
const pumpInterval = 5;

/** The samples that are due to be played, and their rate. */
export interface OutputFrame {
  readonly samples: Int16Array;
  readonly sampleRate: number;
}

/** What passes over the media socket of one telephone. Times are in milliseconds since the answer. */
export interface MediaParts {
  /** Now. */
  readonly now: () => number;
  /** The samples of one packet, from a time on. Absent where another telephone's packets are relayed instead. */
  readonly output?: (from: number, duration: number) => OutputFrame;
  /** Called with each packet of `output` as it is sent, and when it begins. */
  readonly onOutput?: (from: number, samples: Int16Array) => void;
  /** Called with what was not played in its time: it comes later. */
  readonly onHeld: (from: number, to: number) => void;
  /** Called with each packet that the telephone has sent. */
  readonly onInput: (samples: Int16Array<ArrayBuffer>) => void;
  /** Called when Asterisk gives no sign of life any more. */
  readonly onGone: () => void;
}

/** The timer of all pumps: one for a hundred calls costs as much as one for one. */
class Ticker {
  readonly #pumps = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;

  add(pump: () => void): void {
    this.#pumps.add(pump);
    this.#timer ??= setInterval(() => {
      for (const each of this.#pumps) each();
    }, pumpInterval);
  }

  delete(pump: () => void): void {
    this.#pumps.delete(pump);
    if (this.#pumps.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const ticker = new Ticker();

/** The media of one telephone: packets of 20 ms each way, by the clock, whatever the application does. */
export class Media {
  readonly #socket: WebSocket;
  readonly #parts: MediaParts;
  readonly #pump = () => this.#sendDue();
  /** When the next packet begins, in samples since the answer. */
  #next: number;
  /** How many packets are left out, as Asterisk has too many. */
  #surplus = 0;
  /** How many packets Asterisk had queued lately. */
  #queued: number[] = [];
  #askedAt = 0;
  #answeredAt = performance.now();
  #pumpedAt = performance.now();
  #resampler: Resampler | undefined;
  #rate = lineRate;

  /** @param socket - open */
  constructor(socket: WebSocket, parts: MediaParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#next = Math.ceil(parts.now() / frameDuration) * frame;
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    socket.addEventListener("close", () => this.close());
    this.#prime();
    ticker.add(this.#pump);
  }

  /** What was given to Asterisk up to now, in milliseconds since the answer. */
  get position(): number {
    return (this.#next * 1_000) / lineRate;
  }

  /** How long after it was given to Asterisk a sound has left for the telephone, in milliseconds. */
  get latency(): number {
    return primed * frameDuration;
  }

  /** Sends a packet of another telephone's, whose clock paces it. */
  relay(samples: Int16Array<ArrayBuffer>): void {
    if (this.#surplus > 0) this.#surplus--;
    else this.#sendNow(samples);
  }

  close(): void {
    ticker.delete(this.#pump);
    this.#socket.close();
  }

  #sendNow(samples: Int16Array<ArrayBuffer>): void {
    if (this.#socket.readyState === 1) this.#socket.send(samples);
  }

  #prime(): void {
    this.#sendNow(new Int16Array(primed * frame));
  }

  #sendDue(): void {
    const clock = performance.now();
    const wasStalled = clock - this.#pumpedAt > maxLate * frameDuration;
    this.#pumpedAt = clock;
    const { output } = this.#parts;
    if (output) this.#sendOutput(output);
    this.#ask(clock, wasStalled);
  }

  #sendOutput(output: NonNullable<MediaParts["output"]>): void {
    const due = (this.#parts.now() * lineRate) / 1_000;
    if (due - this.#next > maxLate * frame) {
      // Asterisk has played all it had, and what was due has not been heard.
      this.#hold(Math.floor((due - this.#next) / frame) - 1);
      this.#prime();
    }
    for (; this.#next + frame <= due; this.#next += frame) {
      if (this.#surplus > 0) {
        this.#surplus--;
        this.#parts.onHeld(this.position, this.position + frameDuration);
      } else this.#send(output(this.position, frameDuration));
    }
  }

  /** Leaves out packets, whose sounds are played later. */
  #hold(packets: number): void {
    const from = this.position;
    this.#next += packets * frame;
    this.#parts.onHeld(from, this.position);
  }

  #send({ samples, sampleRate }: OutputFrame): void {
    if (sampleRate !== this.#rate) {
      this.#rate = sampleRate;
      this.#resampler = sampleRate === lineRate ? undefined : new Resampler(sampleRate, lineRate);
    }
    const sent = Int16Array.from(this.#resampler?.push(samples) ?? samples);
    this.#sendNow(sent);
    this.#parts.onOutput?.(this.position, sent);
  }

  /** Asks for Asterisk's queue, and watches for its answers. */
  #ask(clock: number, wasStalled: boolean): void {
    if (clock - this.#askedAt < statusInterval || this.#socket.readyState !== 1) return;
    this.#askedAt = clock;
    // Answers may wait behind our own stall.
    if (wasStalled) this.#answeredAt = clock;
    if (clock - this.#answeredAt > silenceTimeout) {
      this.close();
      this.#parts.onGone();
      return;
    }
    this.#socket.send('{"command":"GET_STATUS"}');
  }

  #receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      this.#parts.onInput(new Int16Array(data));
      return;
    }
    const { event, queue_length } = fieldsOf(
      withoutThrowing(() => JSON.parse(isText(data) ? data : "")),
    );
    if (event !== "STATUS") return;
    this.#answeredAt = performance.now();
    if (typeof queue_length === "number") this.#judge(queue_length);
  }

  /** Asterisk never makes up for what it has queued (asterisk#2115): what is too much is left out of what follows. */
  #judge(queued: number): void {
    this.#queued = [...this.#queued, queued].slice(-judged);
    const least = Math.min(...this.#queued);
    if (this.#queued.length < judged || least <= primed) return;
    this.#surplus = least - primed;
    this.#queued = [];
  }
}

/** The channel and the bridge of a telephone's media. */
const namesOf = (channel: string) => ({ media: `media_${channel}`, bridge: `bridge_${channel}` });

/**
 * Connects the media of an answered telephone.
 *
 * @throws {TypeError} when Asterisk refuses
 */
export const connectMedia = async (ari: AriClient, channel: string): Promise<WebSocket> => {
  const { media, bridge } = namesOf(channel);
  const entered = new Promise<void>((resolve, reject) => {
    ari.watch(media, ({ type }) => {
      if (type === "entered") resolve();
      if (type === "ended") reject(new TypeError("Asterisk ended the media channel"));
    });
  });
  // Whoever awaits it is not there yet.
  entered.catch(() => {});
  const created = ari.request("POST", "/channels/externalMedia", {
    app: ari.app,
    channelId: media,
    external_host: "INCOMING",
    transport: "websocket",
    encapsulation: "none",
    connection_type: "server",
    format: "slin",
    transport_data: "f(json)",
  });
  const [{ body }] = await Promise.all([
    created,
    ari.request("POST", "/bridges", { type: "mixing", bridgeId: bridge }),
  ]);
  const id = fieldsOf(fieldsOf(body).channelvars).MEDIA_WEBSOCKET_CONNECTION_ID;
  if (!isText(id)) throw new TypeError("Asterisk has made no media channel");
  const socket = openSocket(`${ari.socketUrl}/media/${id}`, ari.headers, ["media"]);
  socket.binaryType = "arraybuffer";
  const opened = new Promise<void>((resolve) => {
    socket.addEventListener("open", () => resolve());
  });
  const lost = new Promise<never>((_, reject) => {
    socket.addEventListener("close", () => reject(new TypeError("The media socket is closed")));
  });
  lost.catch(() => {});
  await Promise.race([Promise.all([entered, opened]), lost]);
  const adding = { channel: `${channel},${media}` };
  await Promise.race([ari.request("POST", `/bridges/${bridge}/addChannel`, adding), lost]);
  return socket;
};

/** Ends what `connectMedia` has made. */
export const disconnectMedia = (ari: AriClient, channel: string): void => {
  const { media, bridge } = namesOf(channel);
  ari.send("DELETE", `/channels/${media}`);
  ari.send("DELETE", `/bridges/${bridge}`);
};
