import { withoutThrowing } from "../lib/check.ts";

/**
 * Throws once the work is over, or its time is, though the timer could not fire yet: called right
 * before anything is sent.
 *
 * @param refusal - why nothing may be sent any more: the promise rejects with it
 */
export type RequireOpen = (refusal?: Error | false) => void;

/**
 * Does a piece of work under one deadline and the caller's signal, and settles at whichever comes
 * first, even when the work ignores the signal that it gets. Timer and listener are removed on every
 * way out, and `requireOpen` throws before the promise settles: the work can't send anything afterwards.
 *
 * Its own controller rather than `AbortSignal.timeout`, which holds a process open, or
 * `AbortSignal.any`, which keeps memory for as long as the caller's signal lives.
 *
 * @param timeout - milliseconds, or `false` for no deadline
 * @param caller - the caller's signal, whose reason becomes the rejection
 * @param late - makes the exception for a deadline that has passed
 * @param work - its signal aborts when the promise settles early, and `ends` is when the deadline
 * passes, by `performance.now()`
 */
export const withDeadline = <T>(
  timeout: number | false,
  caller: AbortSignal | undefined,
  late: () => Error,
  work: (signal: AbortSignal, requireOpen: RequireOpen, ends: number) => Promise<T>,
): Promise<T> =>
  new Promise((resolve, reject) => {
    // The caller's signal may be of any make: each of its methods may throw.
    const controller = new AbortController();
    const ends = performance.now() + (timeout || Infinity);
    let isOpen = true;
    const requireOpen: RequireOpen = (refusal) => {
      // Timers of a thread that was blocked fire only after what is queued already.
      if (isOpen && (refusal || performance.now() >= ends)) stop(refusal || late());
      if (!isOpen) throw new Error("over");
    };
    const ending =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        isOpen = false;
        clearTimeout(timer);
        withoutThrowing(() => caller?.removeEventListener("abort", onAbort));
        settle(value);
      };
    const stop = (reason: unknown) => {
      ending(reject)(reason);
      controller.abort();
    };
    const onAbort = () => {
      const reason = withoutThrowing(() => caller?.reason);
      // Signals of older polyfills have no reason.
      stop(
        reason === undefined ? new DOMException("The operation was aborted", "AbortError") : reason,
      );
    };
    const timer = timeout ? setTimeout(() => stop(late()), timeout) : undefined;
    withoutThrowing(() => caller?.addEventListener("abort", onAbort));
    if (withoutThrowing(() => caller?.aborted)) onAbort();
    else work(controller.signal, requireOpen, ends).then(ending(resolve), ending(reject));
  });

/** Waits for some milliseconds, or for ever once the signal has aborted; leaves no timer. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
