const isBuffer = (value: unknown): value is ArrayBuffer =>
  /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value));

const bytesIn = (samples: unknown): Uint8Array | undefined => {
  if (isBuffer(samples)) return new Uint8Array(samples);
  if (!ArrayBuffer.isView(samples)) return;
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
};

/**
 * The bytes of samples, in the memory that they are in.
 *
 * @throws {TypeError} when it isn't whole 16-bit samples
 */
export const bytesOf = (samples: unknown): Uint8Array => {
  const bytes = bytesIn(samples);
  if (bytes && bytes.length % 2 === 0) return bytes;
  throw new TypeError("samples must be an array or a buffer of whole 16-bit samples");
};
