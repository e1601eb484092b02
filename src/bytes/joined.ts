/** The bytes of several chunks, one after the other. */
export const joined = (
  chunks: readonly Uint8Array[],
  size: number = chunks.reduce((sum, { length }) => sum + length, 0),
): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
};
