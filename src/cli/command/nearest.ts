/** How many letters must be added, left out, replaced or swapped to make one word of another. */
const distance = (one: string, other: string): number => {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let at = 1; at <= other.length; at++) {
      const same = one[row - 1] === other[at - 1];
      const swapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      now[at] = Math.min(
        (last[at] ?? 0) + 1,
        (now[at - 1] ?? 0) + 1,
        (last[at - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[at - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = last;
    last = now;
  }
  return last[other.length] ?? 0;
};

/** The word that was probably meant, if one is near enough: a third of its letters may be wrong. */
export const nearest = (given: string, words: readonly string[]): string | undefined => {
  if (given.length > 40) return;
  const [best] = words
    .map((word) => ({ word, off: distance(given.toLowerCase(), word) }))
    .filter(({ word, off }) => off <= Math.max(1, Math.floor(word.length / 3)))
    .sort((one, other) => one.off - other.off);
  return best?.word;
};
