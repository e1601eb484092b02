/** What a piece of work gives; nothing when it throws, whatever that is. */
export const quietly = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return;
  }
};
