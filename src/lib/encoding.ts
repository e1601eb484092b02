/** Bytes that become text at once: every engine takes so many arguments. */
const most = 1024;

/** Bytes as base64. */
export const base64 = (bytes: Uint8Array): string => {
  let text = "";
  for (let at = 0; at < bytes.length; at += most) {
    text += Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + most));
  }
  return btoa(text);
};

/** Bytes as base64url, without padding. */
export const base64url = (bytes: Uint8Array): string =>
  base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/**
 * The bytes of a text in base64 or base64url.
 *
 * @throws {DOMException} when it is neither
 */
export const decoded = (text: string): Uint8Array<ArrayBuffer> => {
  const characters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
};

/** The bytes of a text in hexadecimal. */
export const decodedHex = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** Bytes in hexadecimal. */
export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

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

/** The bytes of a text, in UTF-8. */
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** A hash of the bytes of a text, or of other whole numbers, in 32 bits: FNV-1a. */
export const fnv1a = (units: Iterable<number>): number => {
  let hash = 0x811c9dc5;
  for (const unit of units) hash = Math.imul(hash ^ unit, 0x01000193);
  return hash >>> 0;
};

/** The bytes of samples, least significant first, as on every supported platform. */
export const bytesOf = (samples: Int16Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(new Int16Array(samples).buffer);
