/** Bytes as base64: some thousands at most, each is an argument of a call. */
export const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/**
 * The bytes of a text in base64 or base64url.
 *
 * @throws {DOMException} when it is neither
 */
export const decoded = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (byte) =>
    byte.charCodeAt(0),
  );
