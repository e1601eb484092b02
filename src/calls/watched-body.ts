import { TimeoutException, withoutPlaced } from "../errors.ts";
import type { Redaction } from "../http/redact.ts";
import { networkException } from "../http/response.ts";
import { withoutThrowing } from "../lib/check.ts";

/** How long a body may send nothing while somebody reads it, in milliseconds. */
const silenceTimeout = 30_000;

type Bytes = Uint8Array<ArrayBuffer>;

/** What a watched body needs. */
interface Watching {
  /** The caller's signal, which also ends the body. */
  readonly signal: AbortSignal | undefined;
  readonly redaction: () => Redaction;
}

/** Why a body ended early, in a form that no error of the platform has. */
interface Stopped {
  readonly reason: unknown;
}

/**
 * A body that errors after 30 s without a byte, and when the caller's signal aborts. It has a timer only while somebody
 * waits for bytes, and what it errors with contains no secret.
 */
export const watchedBody = (
  body: ReadableStream<Bytes>,
  { signal, redaction }: Watching,
): ReadableStream<Bytes> => {
  const reader = body.getReader();
  let stopped: Stopped | undefined;
  let wake = (): void => {};
  /** Ends the connection, if there is one, and forgets the signal. */
  const release = (): void => {
    withoutThrowing(() => signal?.removeEventListener("abort", onAbort));
    reader.cancel().catch(() => {});
  };
  const stop = (reason: unknown): void => {
    stopped ??= { reason };
    release();
    wake();
  };
  const onAbort = (): void => stop(signal?.reason);
  const onSilence = (): void =>
    stop(new TimeoutException(`No byte of the recording within ${silenceTimeout} ms`, {}));
  /** The next bytes; `undefined` at the end, and once it was stopped. */
  const next = async (): Promise<Bytes | undefined> => {
    while (!stopped) {
      const { value, done } = await reader.read();
      if (done || value.length > 0) return value;
    }
    return;
  };
  /** The same, within the time, and without waiting for a body that ignores its cancellation. */
  const nextOrStop = async (): Promise<Bytes | undefined> => {
    const timer = setTimeout(onSilence, silenceTimeout);
    try {
      return await new Promise((resolve, reject) => {
        wake = () => resolve(undefined);
        next().then(resolve, reject);
      });
    } finally {
      clearTimeout(timer);
    }
  };
  withoutThrowing(() => signal?.addEventListener("abort", onAbort));
  if (signal?.aborted) onAbort();
  return new ReadableStream<Bytes>(
    {
      pull: async (controller) => {
        try {
          const bytes = await nextOrStop();
          if (stopped) return controller.error(stopped.reason);
          if (bytes) return controller.enqueue(bytes);
          release();
          controller.close();
        } catch (error) {
          release();
          const reason = withoutPlaced(networkException(error, redaction(), false));
          controller.error(stopped ? stopped.reason : reason);
        }
      },
      cancel: stop,
    },
    // Nothing is read before somebody asks for it.
    { highWaterMark: 0 },
  );
};
