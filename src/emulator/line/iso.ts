let latest = 0;
let text = "1970-01-01T00:00:00.000Z";

/**
 * A time in ISO 8601 UTC. Many things happen in the same millisecond, and each is told with it.
 *
 * @param time - milliseconds since 1970
 */
export const iso = (time: number): string => {
  if (time !== latest) {
    text = new Date(time).toISOString();
    latest = time;
  }
  return text;
};
