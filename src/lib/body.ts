import { withoutThrowing } from "./check.ts";
import { joined, utf8 } from "./encoding.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The value of UTF-8 JSON; `undefined`, which JSON does not have, for anything else. */
export const parseJson = (bytes: Uint8Array): unknown =>
  withoutThrowing(() => JSON.parse(decoder.decode(bytes)));

/** A request or a response, of the platform's or of another make. */
export interface BodySource {
  /** The body as a stream. */
  readonly body?: Request["body"] | undefined;
  /** Read where there is no stream: then somebody else has buffered the body. */
  readonly text?: (() => Promise<string>) | undefined;
}

/** A body, or its beginning. */
export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether `bytes` is all of it. */
  readonly isWhole: boolean;
}

/** How many chunks of a body are read: endless empty ones would keep the timer of a deadline from firing. */
export const maxChunks = 32_768;

/** A chunk's bytes, as many as there really are: the object may claim any `length`. */
const bytesOf = (chunk: unknown): Uint8Array => {
  if (!ArrayBuffer.isView(chunk)) throw new TypeError("a chunk of the body is not bytes");
  return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
};

/** Reads the chunks of a body, and cancels what is left of it. */
interface Chunks {
  readonly next: () => Promise<{ readonly value?: Uint8Array | undefined } | undefined>;
  readonly cancel: () => unknown;
}

/** The chunks of a stream: of the platform's, or of an iterable one such as Node's. */
export const chunksOf = (body: NonNullable<Request["body"]>): Chunks => {
  if (body.getReader) {
    const reader = body.getReader();
    return { next: () => reader.read(), cancel: () => reader.cancel() };
  }
  const iterator = body[Symbol.asyncIterator]();
  return { next: () => iterator.next(), cancel: () => iterator.return?.() };
};

/**
 * Reads a body up to a limit, counted by the bytes that really come, and cancels the rest.
 *
 * @param limit - the most bytes that are returned
 * @param signal - cancels the body when it aborts: a body may ignore the signal of its request
 * @throws {TypeError} when a chunk is not bytes, and what the body rejects with
 */
export const readBody = async (
  source: BodySource,
  limit: number,
  signal?: AbortSignal,
): Promise<Body> => {
  const { body } = source;
  if (!body) {
    const bytes = utf8((await source.text?.()) ?? "");
    return { bytes: bytes.subarray(0, limit), isWhole: bytes.length <= limit };
  }
  const { next, cancel } = chunksOf(body);
  const stop = () => {
    (async () => cancel())().catch(() => {});
  };
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isOver = false;
  try {
    for (let reads = 0; size <= limit && reads < maxChunks; reads++) {
      const { value } = (await next()) ?? {};
      isOver = !value;
      if (isOver) return { bytes: joined(chunks, size), isWhole: true };
      const chunk = bytesOf(value);
      chunks.push(chunk);
      size += chunk.length;
    }
    return { bytes: joined(chunks, size).subarray(0, limit), isWhole: false };
  } finally {
    signal?.removeEventListener("abort", stop);
    if (!isOver) stop();
  }
};
