import { createKeyDetector } from "./key-detector.ts";
import { type Recording, telephoneRate } from "./recording/recording.ts";
import { sampleAt } from "./recording/track.ts";

/** How much of the line is listened to at once, in ms: a frame, which is lost as a whole. */
const frameMs = 20;

/** The keys that an application presses for the callee to hear: as tones in its audio, and by the carrier's API. */
export class PressedKeys {
  readonly #recording: Recording;
  readonly #isLost: ((frame: number) => boolean) | undefined;
  readonly #detector = createKeyDetector(telephoneRate);
  /** Up to when the audio was listened to, in milliseconds since the answer. */
  #detectedUntil = 0;
  #keys = "";
  /** How many of them were waited for before. */
  #taken = 0;

  /** @param isLost - whether the line loses a frame of 20 ms, by its index since the answer */
  constructor(recording: Recording, isLost?: (frame: number) => boolean) {
    this.#recording = recording;
    this.#isLost = isLost;
  }

  /** All of them, up to where the audio was listened to. */
  get keys(): string {
    return this.#keys;
  }

  /** Adds keys of the carrier's API. */
  add(keys: string): void {
    this.#keys += keys;
  }

  /**
   * Listens to the audio, and returns when the keys have come one after the other; those before them are skipped, and
   * each counts once.
   *
   * @param now - in milliseconds since the answer
   */
  find(keys: string, now: number): number | undefined {
    for (;;) {
      const at = this.#keys.indexOf(keys, this.#taken);
      if (at >= 0) {
        this.#taken = at + keys.length;
        return this.#detectedUntil;
      }
      if (this.#detectedUntil + frameMs > now) return;
      this.#listen();
    }
  }

  #listen(): void {
    const from = this.#detectedUntil;
    this.#detectedUntil += frameMs;
    const count = sampleAt(frameMs, telephoneRate);
    const isLost = this.#isLost?.(from / frameMs);
    const mixing = { sampleRate: telephoneRate, now: this.#detectedUntil, all: true };
    const samples = isLost
      ? new Int16Array(count)
      : this.#recording.side("application", sampleAt(from, telephoneRate), count, mixing);
    for (const key of this.#detector.push(samples)) this.#keys += key;
  }
}
