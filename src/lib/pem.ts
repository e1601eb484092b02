import { decoded, joined } from "./encoding.ts";

/** The two ends of a private key's PEM, in PKCS#8 or PKCS#1 (`RSA PRIVATE KEY`), not encrypted, and what is between them. */
const shape =
  /^\s*-----BEGIN (RSA )?PRIVATE KEY-----\s*([A-Za-z\d+/=\s]{200,})-----END \1?PRIVATE KEY-----\s*$/;

/** Whether a text has the form of a private key's PEM, on several lines or on one. */
export const isPrivateKey = (text: string): boolean => shape.test(text);

/** The length of a DER element, in the form of two bytes: an RSA key has more than 255. */
const derLength = (length: number): readonly number[] => [0x82, length >> 8, length & 0xff];

/** `INTEGER 0`, and the `SEQUENCE` of `rsaEncryption` and `NULL`. */
const rsaEncryption = [2, 1, 0, 0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0];

/** PKCS#8 around a key of PKCS#1, as Web Crypto takes no other. */
const inPkcs8 = (rsaKey: Uint8Array): Uint8Array<ArrayBuffer> => {
  const inner = [...rsaEncryption, 4, ...derLength(rsaKey.length)];
  const head = [0x30, ...derLength(inner.length + rsaKey.length), ...inner];
  return joined([Uint8Array.from(head), rsaKey]);
};

/** The algorithm of RS256. */
export const rs256 = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/**
 * Imports the RSA key in a PEM, to sign with RS256.
 *
 * @throws {DOMException} when it is no RSA key
 */
export const importPem = (pem: string, extractable = false): Promise<CryptoKey> => {
  const [, isPkcs1, body = ""] = shape.exec(pem) ?? [];
  const der = decoded(body.replace(/\s/g, ""));
  return crypto.subtle.importKey("pkcs8", isPkcs1 ? inPkcs8(der) : der, rs256, extractable, [
    "sign",
  ]);
};
