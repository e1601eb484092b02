/** The bytes of a body, or `undefined` when there are more of them than `largest`. */
export const readBytes = async (
  body: ReadableStream<Uint8Array> | null,
  largest: number,
): Promise<Uint8Array | undefined> => {
  if (!body) return new Uint8Array();
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { value } = await reader.read();
    if (!value) break;
    size += value.length;
    if (size > largest) {
      reader.cancel().catch(() => {});
      return;
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
};

/** The value of UTF-8 JSON; `undefined`, which JSON has not, for anything else. */
export const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return;
  }
};
