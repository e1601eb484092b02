import type { Cut } from "../agent.ts";
import { Converter } from "../audio/converter.ts";
import { type AudioFormat, bytesPerMs } from "../audio/format.ts";
import type { Player } from "../player/player.ts";

/** What an agent says, from its own format into the player. */
export class Voice {
  readonly #player: Player;
  readonly #speaks: AudioFormat;
  readonly #stream: AudioFormat;
  #converter: Converter;
  /** What was said last: what the converter still holds is its end. */
  #last: { readonly item: string | undefined; readonly turn: string | undefined } | undefined;

  constructor(player: Player, speaks: AudioFormat, stream: AudioFormat) {
    this.#player = player;
    this.#speaks = speaks;
    this.#stream = stream;
    this.#converter = new Converter(speaks, stream);
  }

  /** Says something; the milliseconds of it that are dropped. */
  say(audio: Uint8Array<ArrayBuffer>, item?: string, turn?: string): number {
    if (this.#player.isCancelled(turn)) return audio.length / bytesPerMs(this.#speaks);
    this.#last = { item, turn };
    return this.#player.say(this.#converter.push(audio), item, turn);
  }

  /** All of an answer has come. */
  done(turn: string | undefined): void {
    const last = this.#last;
    if (last && (turn === undefined || turn === last.turn)) {
      this.#player.say(this.#converter.flush(), last.item, last.turn);
      this.#last = undefined;
    }
    this.#player.done(turn);
  }

  /** Silent, at once: what was cut off. */
  clear(): readonly Cut[] {
    const cuts = this.#player.clear();
    this.#converter = new Converter(this.#speaks, this.#stream);
    this.#last = undefined;
    return cuts;
  }
}
