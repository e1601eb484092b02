/** Tells the application what it wants to hear; what it throws then, it is told. */
export interface Teller {
  readonly report: (error: unknown) => void;
  readonly tell: <T>(handler: ((news: T) => unknown) | undefined, news: T) => void;
}

export const tellerOf = (onError: ((error: unknown) => unknown) | undefined): Teller => {
  const report = (error: unknown): void => {
    (async () => onError?.(error))().catch(() => {});
  };
  return {
    report,
    tell: (handler, news) => {
      (async () => handler?.(news))().catch(report);
    },
  };
};
