/**
 * Waits for a step, such as `verify`, but not beyond the limit of all of them. A step that is late goes on
 * by itself, and nobody hears of it.
 *
 * @param late - what a late step is: the sender's fault or the application's
 */
export type Limit = <T>(step: T | PromiseLike<T>, late: (longest: number) => Error) => Promise<T>;

/** A function of the application's that is late. */
export const lateAnswer =
  (name: string) =>
  (longest: number): Error =>
    new DOMException(`${name} gave no answer within ${longest} ms of the request`, "TimeoutError");

/**
 * Does some work in steps that have one time together. The timer is gone once it has settled.
 *
 * @param longest - of all steps together, in milliseconds
 */
export const withLimit = async <T>(
  longest: number,
  work: (limit: Limit) => Promise<T>,
): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, longest);
  });
  const limit: Limit = (step, late) => {
    const end = over.then(() => {
      throw late(longest);
    });
    return Promise.race([step, end]);
  };
  try {
    return await work(limit);
  } finally {
    clearTimeout(timer);
  }
};
