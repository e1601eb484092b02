/**
 * The bytes of samples, in the memory that they are in.
 *
 * @throws {TypeError} when it isn't whole 16-bit samples
 */
export const bytesOf = (samples: unknown): Uint8Array => {
  // A view has a buffer beneath it; a buffer, of any realm, is one.
  const { buffer = samples, byteOffset, byteLength } = Object(samples);
  if (byteLength % 2 === 0) return new Uint8Array(buffer, byteOffset, byteLength);
  throw new TypeError("samples must be an array or a buffer of whole 16-bit samples");
};
