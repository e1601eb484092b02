/** The beginning of a body. */
export interface Beginning {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether that is all of it. */
  readonly whole: boolean;
}

const join = (chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    const rest = chunk.subarray(0, size - at);
    bytes.set(rest, at);
    at += rest.length;
  }
  return bytes;
};

/**
 * Reads as much of a body as is wanted, counted on what really comes, and cancels the rest. A chunk of
 * no bytes counts as one, as no timer fires while such chunks keep coming.
 *
 * @param largest - how many bytes are wanted
 * @param signal - ends the reading; a body is free to ignore the signal of its request
 */
export const readBeginning = async (
  body: ReadableStream<Uint8Array> | null,
  largest: number,
  signal?: AbortSignal,
): Promise<Beginning> => {
  if (!body) return { bytes: new Uint8Array(), whole: true };
  const reader = body.getReader();
  const cancel = () => reader.cancel().catch(() => {});
  signal?.addEventListener("abort", cancel);
  const chunks: Uint8Array[] = [];
  let size = 0;
  let left = largest;
  while (left >= 0) {
    const { value } = await reader.read();
    if (!value) {
      signal?.removeEventListener("abort", cancel);
      return { bytes: join(chunks, size), whole: true };
    }
    chunks.push(value);
    size += value.length;
    left -= value.length || 1;
  }
  cancel();
  return { bytes: join(chunks, Math.min(size, largest)), whole: false };
};

const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true });

/** The value of UTF-8 JSON; `undefined`, which JSON has not, for anything else. */
export const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return;
  }
};
