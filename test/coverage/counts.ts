/** How often each statement and each branch of one file ran, by the numbers that Istanbul gave them. */
export interface Counts {
  readonly s: Readonly<Record<string, number>>;
  readonly f: Readonly<Record<string, number>>;
  readonly b: Readonly<Record<string, readonly number[]>>;
}

/** The counts of each file of `src` in this runtime so far; nothing unless `src` is instrumented. */
export const countsHere = (): Readonly<Record<string, Counts>> | undefined => {
  const { __coverage__: files } = globalThis as {
    readonly __coverage__?: Readonly<Record<string, Counts>>;
  };
  return (
    files &&
    Object.fromEntries(Object.entries(files).map(([file, { s, f, b }]) => [file, { s, f, b }]))
  );
};
