import { isText } from "../../lib/check.ts";
import { base64url, utf8 } from "../../lib/encoding.ts";
import { importPem, isPrivateKey, rs256 } from "../../lib/pem.ts";

/**
 * A PEM on one line, which is a legal header value as every key must be. An environment variable may have `\n` for
 * its line breaks. `undefined` for what is no PEM of a private key.
 */
export const onOneLine = (pem: unknown): string | undefined => {
  if (!isText(pem)) return;
  const text = pem.replaceAll("\\n", "\n");
  return isPrivateKey(text) ? text.trim().replace(/\s+/g, " ") : undefined;
};

const part = (value: object): string => base64url(utf8(JSON.stringify(value)));

/** How long a token is valid, in seconds: as Vonage's own client makes it. */
const validity = 900;

/** Makes the tokens of an application: RS256, each with an id of its own. */
export type TokenMaker = (pem: string) => Promise<string>;

/** Makes tokens. The last key is kept, as importing it costs as much as signing. */
export const tokenMaker = (application_id: string): TokenMaker => {
  let imported: { readonly pem: string; readonly key: CryptoKey } | undefined;
  return async (pem) => {
    if (imported?.pem !== pem) imported = { pem, key: await importPem(pem) };
    const iat = Math.floor(Date.now() / 1000);
    const claims = { application_id, iat, exp: iat + validity, jti: crypto.randomUUID() };
    const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
    const signature = await crypto.subtle.sign(rs256, imported.key, utf8(signed));
    return `${signed}.${base64url(new Uint8Array(signature))}`;
  };
};
