import { quietly } from "../rules/quietly.ts";

/**
 * Throws once nobody waits for the work any more, or its time is over though the timer could not say so:
 * asked right before anything is sent.
 */
export type Gate = () => void;

/**
 * Does a piece of work under one deadline and the caller's signal, and settles at whichever comes
 * first, even when the work ignores the signal that it is given. Timer and listener are gone on
 * every way out, and the gate is shut before the promise settles: what the work does later can't send.
 *
 * Its own controller rather than `AbortSignal.timeout`, which holds a process open, or
 * `AbortSignal.any`, which keeps memory for as long as the caller's signal lives.
 *
 * @param timeout - milliseconds, or `false` for no deadline
 * @param caller - the caller's signal, whose reason becomes the rejection
 * @param late - makes the exception for a deadline that has passed
 * @param work - what is to be done; its signal aborts when nobody waits for it any more, and `ends` is
 * when that is at the latest, by `performance.now()`
 */
export const withDeadline = <T>(
  timeout: number | false,
  caller: AbortSignal | undefined,
  late: () => Error,
  work: (signal: AbortSignal, gate: Gate, ends: number) => Promise<T>,
): Promise<T> =>
  new Promise((resolve, reject) => {
    // The caller's signal may be of any make, and throw whatever it is asked.
    const controller = new AbortController();
    const ends = performance.now() + (timeout || Number.POSITIVE_INFINITY);
    let isOpen = true;
    const gate = () => {
      // A thread that was held up hears of its timers only after what is in line already.
      if (isOpen && performance.now() >= ends) stop(late());
      if (!isOpen) throw new Error("over");
    };
    const ending =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        isOpen = false;
        clearTimeout(timer);
        quietly(() => caller?.removeEventListener("abort", onAbort));
        settle(value);
      };
    const stop = (reason: unknown) => {
      ending(reject)(reason);
      controller.abort();
    };
    const onAbort = () => stop(quietly(() => caller?.reason));
    const timer = timeout ? setTimeout(() => stop(late()), timeout) : undefined;
    quietly(() => caller?.addEventListener("abort", onAbort));
    if (quietly(() => caller?.aborted)) onAbort();
    else work(controller.signal, gate, ends).then(ending(resolve), ending(reject));
  });

/** Waits for some milliseconds, or for ever once the signal has aborted; leaves no timer. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
