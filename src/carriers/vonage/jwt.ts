import { isText } from "../../lib/check.ts";
import { base64url, decoded, joined, utf8 } from "../../lib/encoding.ts";

/** A private key in PEM, not encrypted: of PKCS#8, or of PKCS#1 (`RSA PRIVATE KEY`). */
const pemShape =
  /^\s*-----BEGIN (RSA )?PRIVATE KEY-----\s*([A-Za-z\d+/=\s]{200,})-----END \1?PRIVATE KEY-----\s*$/;

/**
 * A PEM on one line, which is a legal header value as every key must be. An environment variable may have `\n` for
 * its line breaks. `undefined` for what is no PEM of a private key.
 */
export const onOneLine = (pem: unknown): string | undefined => {
  if (!isText(pem)) return;
  const text = pem.replaceAll("\\n", "\n");
  return pemShape.test(text) ? text.trim().replace(/\s+/g, " ") : undefined;
};

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

const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/**
 * The key in a PEM.
 *
 * @throws when it is none of RSA
 */
const importPem = (pem: string): Promise<CryptoKey> => {
  const [, isPkcs1, body = ""] = pemShape.exec(pem) ?? [];
  const der = decoded(body.replace(/\s/g, ""));
  return crypto.subtle.importKey("pkcs8", isPkcs1 ? inPkcs8(der) : der, algorithm, false, ["sign"]);
};

const part = (value: object): string => base64url(utf8(JSON.stringify(value)));

/** How long a token is valid, in seconds: as Vonage's own client makes it. */
const validity = 900;

/** Makes the tokens of an application: RS256, each with an id of its own. */
export type TokenMaker = (pem: string) => Promise<string>;

/** Makes tokens. The last key is kept, as importing it costs as much as signing. */
export const tokenMaker = (application_id: string): TokenMaker => {
  let known: { readonly pem: string; readonly key: CryptoKey } | undefined;
  return async (pem) => {
    if (known?.pem !== pem) known = { pem, key: await importPem(pem) };
    const iat = Math.floor(Date.now() / 1000);
    const claims = { application_id, iat, exp: iat + validity, jti: crypto.randomUUID() };
    const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
    const signature = await crypto.subtle.sign(algorithm, known.key, utf8(signed));
    return `${signed}.${base64url(new Uint8Array(signature))}`;
  };
};
