import { answerAt } from "../conformance/models/model.ts";
import { decoded, ulaw } from "../conformance/models/sound.ts";
import { LocalSocket } from "./local-socket.ts";

/** How a service treats its marks and the network. Times are in ms. */
export interface PhoneLine {
  /** How long each message is under way, in either direction. */
  readonly delay?: number;
  /** How long after audio has come the service begins to play it, when the line was idle. */
  readonly jitterBuffer?: number;
  /** How much later than that a mark comes back. */
  readonly markDelay?: (mark: number) => number;
  /** Marks that never come back, by their number. */
  readonly isLost?: (mark: number) => boolean;
}

/** A message that the application has written, and how much audio is in it. */
export interface Written {
  readonly event: "media" | "mark" | "clear";
  readonly ms: number;
}

const frame = 20;
const [silence, loud] = [0xff, 0x20];
const streamSid = "MZ00000000000000000000000000000001";
const ids = {
  streamSid,
  accountSid: "AC00000000000000000000000000000001",
  callSid: "CA00000000000000000000000000000001",
};

/**
 * Twilio's end of a Media Stream, and the telephone behind it, by the clock of the test: it plays audio in order, sends
 * each mark back when what was before it has been played, and on `clear` drops the rest and sends its marks back.
 */
export class TwilioPhone {
  readonly socket = new LocalSocket((text) => {
    const { event, media } = JSON.parse(text);
    this.written.push({ event, ms: decoded(media?.payload ?? "").length / 8 });
    this.#later(() => this.#receive(text));
  });
  /** What the application has written, in order. */
  readonly written: Written[] = [];
  /** Milliseconds of each answer of a model that were played. */
  readonly played = new Map<number, number>();
  /** The same, at each `clear` that came. */
  readonly playedAtClear: ReadonlyMap<number, number>[] = [];
  readonly #line: PhoneLine;
  #queue: { readonly answer: number; ms: number; readonly mark?: string }[] = [];
  #marks = 0;
  #wait = 0;
  #frames = 0;
  #isLoud = false;

  constructor(line: PhoneLine = {}) {
    this.#line = line;
  }

  /** Sends the first messages; the callee is on the line. */
  start(): void {
    const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 };
    const start = { ...ids, tracks: ["inbound"], customParameters: {}, mediaFormat };
    this.#deliver({ event: "connected", protocol: "Call", version: "1.0.0" });
    this.#deliver({ event: "start", sequenceNumber: "1", start, streamSid });
  }

  /** Whether the callee speaks. */
  speak(isLoud: boolean): void {
    this.#isLoud = isLoud;
  }

  /** A millisecond passes. */
  tick(): void {
    if (this.#frames++ % frame === 0) {
      const payload = Buffer.alloc(frame * 8, this.#isLoud ? loud : silence).toString("base64");
      const chunk = String(this.#frames);
      const media = { track: "inbound", chunk, timestamp: String(this.#frames - 1), payload };
      this.#deliver({ event: "media", sequenceNumber: chunk, media, streamSid });
    }
    if (this.#wait > 0) this.#wait--;
    else this.#play();
    this.#returnMarks();
  }

  #play(): void {
    const [next] = this.#queue;
    if (!next) return;
    next.ms--;
    this.played.set(next.answer, (this.played.get(next.answer) ?? 0) + 1);
    if (next.ms === 0) this.#queue.shift();
  }

  #returnMarks(): void {
    for (let [next] = this.#queue; next?.mark !== undefined; [next] = this.#queue) {
      this.#queue.shift();
      this.#return(next.mark);
    }
  }

  #return(name: string): void {
    const { isLost = () => false, markDelay = () => 0 } = this.#line;
    const number = this.#marks++;
    if (isLost(number)) return;
    const message = { event: "mark", sequenceNumber: "1", streamSid, mark: { name } };
    const wait = markDelay(number);
    if (wait > 0) setTimeout(() => this.#deliver(message), wait);
    else this.#deliver(message);
  }

  #receive(text: string): void {
    const { event, media, mark } = JSON.parse(text);
    const codes = decoded(media?.payload ?? "");
    if (event === "media") {
      if (this.#queue.length === 0) this.#wait = this.#line.jitterBuffer ?? 0;
      // A message may have audio of two answers, each of its own level.
      for (const sample of ulaw.read(codes).filter((_, at) => at % 8 === 0)) {
        const answer = answerAt(sample);
        const last = this.#queue.at(-1);
        if (last && last.mark === undefined && last.answer === answer) last.ms++;
        else this.#queue.push({ answer, ms: 1 });
      }
    }
    if (event === "mark") {
      this.#queue.push({ answer: -1, ms: 0, mark: mark.name });
      this.#returnMarks();
    }
    if (event === "clear") {
      this.playedAtClear.push(new Map(this.played));
      const waiting = this.#queue.splice(0);
      for (const { mark: name } of waiting) if (name !== undefined) this.#return(name);
    }
  }

  #deliver(message: object): void {
    this.#later(() => this.socket.deliver(message));
  }

  /** After the network's delay, in the order in which it was sent; at once where there is none. */
  #later(work: () => void): void {
    const { delay = 0 } = this.#line;
    if (delay > 0) setTimeout(work, delay);
    else work();
  }
}
