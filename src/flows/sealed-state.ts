import { type Token, withoutPrototype } from "../callbacks/signed-url.ts";
import { joined, utf8 } from "../lib/encoding.ts";
import { keptKeys } from "../lib/hmac.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The first byte of a sealed state: no JSON begins with it. */
const version = 1;

/** Bytes of a nonce. It is random: one secret seals far fewer states than the 2 ** 32 that are safe. */
const nonceSize = 12;

/** Bytes that a sealed state has beyond its JSON: the version, the nonce, and a tag of 16 bytes. */
export const sealSize: number = 1 + nonceSize + 16;

const info = utf8("outdial flow state");

/** The key that seals: it is derived, as the secret itself signs. */
const keyOf = keptKeys(async (secret) => {
  const material = await crypto.subtle.importKey("raw", utf8(secret), "HKDF", false, ["deriveKey"]);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
  const aes = { name: "AES-GCM", length: 256 };
  return crypto.subtle.deriveKey(hkdf, material, aes, false, ["encrypt", "decrypt"]);
});

/** @param bound - path, query and expiry of the URL: the state opens in no other */
const algorithm = (iv: Bytes, bound: string) => ({
  name: "AES-GCM",
  iv,
  additionalData: utf8(bound),
});

/** Whether a token has a sealed state, and no context. */
export const isSealed = ({ bytes }: Token): boolean => bytes[0] === version;

/** Seals a value that JSON can hold, so that a URL can carry it and nobody else can read it. */
export const seal = async (value: unknown, secret: string, bound: string): Promise<Bytes> => {
  const iv = crypto.getRandomValues(new Uint8Array(nonceSize));
  const plain = utf8(JSON.stringify(value));
  const sealed = await crypto.subtle.encrypt(algorithm(iv, bound), await keyOf(secret), plain);
  return joined([Uint8Array.of(version), iv, new Uint8Array(sealed)]);
};

/** The value in a token, opened with the secret that sealed it; `undefined` if none of them did. */
export const unsealed = async <T>(
  { bytes, bound }: Token,
  secrets: readonly string[],
): Promise<T | undefined> => {
  const iv = bytes.slice(1, 1 + nonceSize);
  for (const secret of secrets) {
    try {
      const key = await keyOf(secret);
      const plain = await crypto.subtle.decrypt(
        algorithm(iv, bound),
        key,
        bytes.slice(1 + nonceSize),
      );
      return JSON.parse(new TextDecoder().decode(plain), withoutPrototype);
    } catch {
      // Another secret sealed it.
    }
  }
  return;
};
