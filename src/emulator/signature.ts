import { toBase64 } from "./sound.ts";

const encoder = /* @__PURE__ */ new TextEncoder();

/** Signs a text. */
export type Sign = (text: string) => Promise<string>;

/** Where the secret's base64 begins. */
const prefix = "whsec_";

/** Whether something is a secret of the scheme: `whsec_` and base64 of 24 to 64 bytes. */
export const isWebhookSecret = (value: unknown): value is string =>
  typeof value === "string" &&
  /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(value) &&
  value.slice(prefix.length).length % 4 === 0;

/** A new secret: `whsec_` and 32 random bytes in base64. */
export const randomSecret = (): string =>
  prefix + toBase64(crypto.getRandomValues(new Uint8Array(32)));

/**
 * Makes the signatures of the Standard Webhooks scheme: HMAC-SHA256 in base64, after `v1,`.
 *
 * @see https://www.standardwebhooks.com
 */
export const signer = (secret: string): Sign => {
  const bytes = Uint8Array.from(atob(secret.slice(prefix.length)), (each) => each.charCodeAt(0));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  let key: Promise<CryptoKey> | undefined;
  return async (text) => {
    key ??= crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
    const signature = await crypto.subtle.sign("HMAC", await key, encoder.encode(text));
    return `v1,${toBase64(new Uint8Array(signature))}`;
  };
};
