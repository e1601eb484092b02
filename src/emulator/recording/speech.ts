/** Something that an application says, and when: both in samples of the recording. */
export interface Piece {
  readonly chunk_id: string | number | undefined;
  readonly from: number;
  readonly samples: Int16Array;
}

/** What is kept of one call: ten minutes. The rest is silence. */
const most = 10 * 60 * 8_000;

/** What applications say into a call, one after the other, unless they think better of it. */
export class Speech {
  #pieces: readonly Piece[] = [];
  #kept = 0;

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  /** Says something as soon as what was said before has ended. */
  say(samples: Int16Array, chunk_id: string | number | undefined, now: number): void {
    this.#kept += samples.length;
    if (this.#kept > most) return;
    const last = this.#pieces.at(-1);
    const from = Math.max(now, last ? last.from + last.samples.length : 0);
    this.#pieces = [...this.#pieces, { chunk_id, from, samples }];
  }

  /** Stops what has this name; what comes after it comes earlier. */
  interrupt(chunk_id: string | number, now: number): void {
    this.#cut(now, (piece) => piece.chunk_id === chunk_id);
  }

  /** Stops everything. */
  clear(now: number): void {
    this.#cut(now, () => true);
  }

  #cut(now: number, isMeant: (piece: Piece) => boolean): void {
    let free = now;
    this.#pieces = this.#pieces.flatMap((piece) => {
      const { from, samples } = piece;
      if (from + samples.length <= now) return [piece];
      if (isMeant(piece)) {
        return from < now ? [{ ...piece, samples: samples.slice(0, now - from) }] : [];
      }
      const moved = { ...piece, from: from < now ? from : free };
      free = moved.from + samples.length;
      return [moved];
    });
  }
}
