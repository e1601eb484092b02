import { withoutThrowing } from "./check.ts";

type OnError = ((error: unknown) => unknown) | undefined;

/** Calls the application's own functions, and reports errors to its `onError`. */
export interface Reporter {
  /** An error that we have found: dropped without `onError`. */
  readonly report: (error: unknown) => void;
  /** What a function of the application has thrown: printed, unless `onError` is given. */
  readonly thrown: (error: unknown) => void;
  /** Calls a function of the application, whatever it throws. A promise of it isn't waited for. */
  readonly call: <T>(handler: ((value: T) => unknown) | undefined, value: T) => void;
}

export const reporterOf = (onError: OnError): Reporter => {
  const report = (error: unknown): void => {
    (async () => onError?.(error))().catch(() => {});
  };
  // A runtime that inspects what it prints may run a getter that throws.
  const thrown = onError ? report : (error: unknown) => withoutThrowing(() => console.error(error));
  return {
    report,
    thrown,
    call: (handler, value) => {
      (async () => handler?.(value))().catch(thrown);
    },
  };
};
