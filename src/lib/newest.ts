/** A set or a map, which has its keys in the order in which they were added. */
interface Keyed<Key> {
  readonly size: number;
  keys(): Iterable<Key>;
  delete(key: Key): boolean;
}

/** Removes what was added first, so that at most so many are left. */
export const keepNewest = <Key>(collection: Keyed<Key>, most: number): void => {
  for (const oldest of collection.keys()) {
    if (collection.size <= most) return;
    collection.delete(oldest);
  }
};

/** How many ids are remembered. */
const maxIds = 1000;

/** A function that returns whether an id is new: peers repeat themselves. An empty one always is. */
export const createIsNew = (): ((id: string) => boolean) => {
  const seen = new Set<string>();
  return (id) => {
    if (id && seen.has(id)) return false;
    seen.add(id);
    keepNewest(seen, maxIds);
    return true;
  };
};
