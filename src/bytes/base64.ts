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
