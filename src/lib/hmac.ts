import { fail, isText } from "./check.ts";
import { hex, utf8 } from "./encoding.ts";
import { keepNewest } from "./newest.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Gives the key of a secret. */
export type Keys = (secret: string) => Promise<CryptoKey>;

/** How many keys are kept: those in use, and not every secret that has ever been seen. */
const most = 32;

/**
 * Keeps the latest keys, as to import one costs as much as to sign with it: as keys, and not as promises of them, which
 * a Worker must not await from one request in another.
 */
export const keptKeys = (make: Keys): Keys => {
  const kept = new Map<string, CryptoKey>();
  return async (secret) => {
    const known = kept.get(secret);
    if (known) return known;
    const key = await make(secret);
    kept.set(secret, key);
    keepNewest(kept, most);
    return key;
  };
};

/**
 * Keys of HMAC.
 *
 * @param bytes - what a secret's text stands for
 */
export const hmacKeys = (
  bytes: (secret: string) => Bytes,
  hash: "SHA-256" | "SHA-1" = "SHA-256",
): Keys =>
  keptKeys((secret) =>
    crypto.subtle.importKey("raw", bytes(secret), { name: "HMAC", hash }, false, [
      "sign",
      "verify",
    ]),
  );

/** The keys of secrets that are texts, taken as their UTF-8. */
const textKeys: Keys = hmacKeys(utf8);

/** The MAC that a secret makes of some bytes. */
export const macOf = async (secret: string, data: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.sign("HMAC", await textKeys(secret), data));

/** Whether one of the secrets made a MAC; Web Crypto compares in constant time. */
export const isMacOf = async (
  secrets: readonly string[],
  mac: Bytes,
  data: Bytes,
  keys: Keys = textKeys,
): Promise<boolean> => {
  for (const secret of secrets) {
    if (await crypto.subtle.verify("HMAC", await keys(secret), mac, data)) return true;
  }
  return false;
};

/** The SHA-256 of some bytes, in hexadecimal. */
export const sha256 = async (data: Uint8Array): Promise<string> =>
  hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(data))));

/** A secret, several while one replaces another, or a function that returns either. */
type GivenSecret =
  | string
  | readonly string[]
  | (() =>
      | string
      | readonly string[]
      | undefined
      | Promise<string | readonly string[] | undefined>);

/**
 * The secrets that an option has now.
 *
 * @param param - the option
 * @throws {BadParametersException} without a secret, and for an empty one, which would accept what anybody signs: the
 * request is not at fault
 */
export const currentSecrets = async (
  param: string,
  given: GivenSecret,
): Promise<readonly string[]> => {
  const secrets: readonly unknown[] = [typeof given === "function" ? await given() : given].flat();
  const isUsable = secrets.every((secret): secret is string => isText(secret) && secret !== "");
  return isUsable && secrets.length ? secrets : fail(param, "must be a string, not empty");
};
