import { Converter } from "../audio/converter.ts";
import { type AudioFormat, bytesPerMs } from "../audio/format.ts";
import { Queue } from "../player/queue.ts";
import type { Meter } from "./metrics.ts";

/** What the callee says before the agent hears is kept, up to so many bytes: 16 s at 16 kHz. */
const most = 2 ** 19;

/** Gives an agent what the callee says, whole: also what came before it was ready. */
export class Ear {
  readonly #stream: AudioFormat;
  readonly #meter: Meter;
  readonly #early = new Queue();
  #hear: ((audio: Uint8Array<ArrayBuffer>) => void) | undefined;

  constructor(stream: AudioFormat, meter: Meter) {
    this.#stream = stream;
    this.#meter = meter;
  }

  /** From now on the agent hears, in its own format. */
  open(format: AudioFormat, hear: (audio: Uint8Array<ArrayBuffer>) => void): void {
    const converter = new Converter(this.#stream, format);
    this.#hear = (bytes) => {
      const audio = converter.push(bytes);
      if (audio.length > 0) hear(audio);
    };
    for (let part = this.#early.take(most); part; part = this.#early.take(most)) {
      this.#hear(part.bytes);
    }
  }

  hear(bytes: Uint8Array<ArrayBuffer>): void {
    const milliseconds = bytes.length / bytesPerMs(this.#stream);
    this.#meter.audio.heard += milliseconds;
    if (this.#hear) {
      this.#hear(bytes);
      return;
    }
    if (this.#early.length + bytes.length <= most) this.#early.push(bytes);
    else this.#meter.audio.unheard += milliseconds;
  }
}
