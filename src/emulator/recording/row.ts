/** Something with a beginning and an end, in any unit of time. */
interface Span<T> {
  readonly from: number;
  readonly to: number;
  readonly what: T;
}

/** The first place in a sorted list at which something is so. */
const firstAt = (length: number, isSo: (at: number) => boolean): number => {
  let low = 0;
  for (let high = length; low < high; ) {
    const middle = (low + high) >> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** Things in the order in which they begin: those of one stretch are found without a look at the others. */
export class Row<T> {
  readonly #spans: Span<T>[] = [];
  /** The latest end of any up to each. */
  readonly #reach: number[] = [];

  /** How many there are. */
  get size(): number {
    return this.#spans.length;
  }

  add(from: number, to: number, what: T): void {
    const spans = this.#spans;
    // Nearly always it is the last.
    const place = firstAt(spans.length, (at) => (spans[at]?.from ?? from) > from);
    spans.splice(place, 0, { from, to, what });
    for (let at = place; at < spans.length; at++) {
      const { to: end = 0 } = spans[at] ?? {};
      this.#reach[at] = Math.max(this.#reach[at - 1] ?? end, end);
    }
  }

  /** What lies in a stretch, wholly or in part, in order. */
  between(from: number, to: number): readonly T[] {
    const found: T[] = [];
    const first = firstAt(this.#spans.length, (at) => (this.#reach[at] ?? to) > from);
    for (let at = first; at < this.#spans.length; at++) {
      const span = this.#spans[at];
      if (!span || span.from >= to) break;
      if (span.to > from) found.push(span.what);
    }
    return found;
  }
}
