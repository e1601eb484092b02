/** A part of what an agent says. */
export interface Part {
  readonly item: string;
  readonly turn: string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface Piece {
  readonly item: string;
  readonly turn: string | undefined;
  /** Those from `from` to `to` wait; what is behind them is room. */
  block: Uint8Array<ArrayBuffer>;
  from: number;
  to: number;
}

/** The size up to which small pieces of one thing are put together, in bytes. */
const largest = 65_536;

/** Audio that waits, in as few pieces as may be, however small they come: each costs much more than its bytes. */
export class Queue {
  readonly #pieces: Piece[] = [];
  #length = 0;

  /** Bytes that wait. */
  get length(): number {
    return this.#length;
  }

  /** Pieces that wait: things that differ, and large ones. */
  get pieces(): number {
    return this.#pieces.length;
  }

  /** The turn of what is next. */
  get turn(): string | undefined {
    return this.#pieces[0]?.turn;
  }

  push(bytes: Uint8Array<ArrayBuffer>, item = "", turn?: string): void {
    const last = this.#pieces.at(-1);
    this.#length += bytes.length;
    const size = last ? last.to - last.from + bytes.length : 0;
    if (!last || last.item !== item || last.turn !== turn || size > largest) {
      this.#pieces.push({ item, turn, block: bytes, from: 0, to: bytes.length });
      return;
    }
    if (last.to + bytes.length > last.block.length) {
      const block = new Uint8Array(Math.min(2 * size, largest));
      block.set(last.block.subarray(last.from, last.to));
      Object.assign(last, { block, from: 0, to: size - bytes.length });
    }
    last.block.set(bytes, last.to);
    last.to += bytes.length;
  }

  /** The next part of one thing, of so many bytes at most. */
  take(most: number): Part | undefined {
    const [piece] = this.#pieces;
    if (!piece) return;
    const { item, turn, block, from, to } = piece;
    const bytes = block.subarray(from, Math.min(to, from + most));
    piece.from += bytes.length;
    if (piece.from === to) this.#pieces.shift();
    this.#length -= bytes.length;
    return { item, turn, bytes };
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#length = 0;
  }
}
