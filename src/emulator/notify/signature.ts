import { base64 } from "../../bytes/base64.ts";
import { hmacSha256 } from "../hmac.ts";

/** Signs a text. */
export type Sign = (text: string) => string;

/** Where the secret's base64 begins. */
const prefix = "whsec_";

/** Whether something is a secret of the scheme: `whsec_` and base64 of 24 to 64 bytes. */
export const isWebhookSecret = (value: unknown): value is string =>
  typeof value === "string" &&
  /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/.test(value) &&
  value.slice(prefix.length).length % 4 === 0;

/** A new secret: `whsec_` and 32 random bytes in base64. */
export const randomSecret = (): string =>
  prefix + base64(crypto.getRandomValues(new Uint8Array(32)));

/**
 * Makes the signatures of the Standard Webhooks scheme: HMAC-SHA256 in base64, after `v1,`.
 *
 * @see https://www.standardwebhooks.com
 */
export const signer = (secret: string): Sign => {
  const hmac = hmacSha256(
    Uint8Array.from(atob(secret.slice(prefix.length)), (each) => each.charCodeAt(0)),
  );
  return (text) => `v1,${base64(hmac(text))}`;
};
