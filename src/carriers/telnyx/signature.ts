import type { SignatureRefusal } from "../../flows/webhooks.ts";
import { withoutThrowing } from "../../lib/check.ts";
import { decoded, joined, utf8 } from "../../lib/encoding.ts";
import { signatureHeaders } from "./wire.ts";

/** What Telnyx signs: the timestamp of the header, a pipe and the raw body, a form or JSON. */
export const signedBytes = (timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> =>
  joined([utf8(`${timestamp}|`), body]);

/** 64 bytes in the one text that an encoder makes of them: workerd throws at another length. */
const signatureShape = /^[A-Za-z\d+/]{85}[AQgw]==$/;

/** 32 bytes in base64. */
const keyShape = /^[A-Za-z\d+/]{42}[AEIMQUYcgkosw048]=$/;

/** Whether it is a public key as Telnyx's portal shows it. */
export const isPublicKey = (value: unknown): value is string =>
  typeof value === "string" && keyShape.test(value);

/** Telnyx delivers again after a 5xx: a header may have been lost on the way. */
const missing: SignatureRefusal = ["no_signature", [503, "The signature of Telnyx is missing."]];

const wrong: SignatureRefusal = [
  "wrong_signature",
  [401, "The signature of Telnyx was made for another body or time, or with another key."],
];

const expired: SignatureRefusal = [
  "expired_signature",
  [401, "The time of Telnyx's signature is more than 5 minutes off."],
];

/** Seconds that the time may be off, to either side, as in Telnyx's own clients. */
const tolerance = 300;

const keyOf = (publicKey: string): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", decoded(publicKey), "Ed25519", false, ["verify"]);

/**
 * Verifies `Telnyx-Signature-Ed25519`.
 *
 * @param publicKeys - those that may have signed, each 32 bytes in base64
 * @returns why the request is refused
 * @see https://developers.telnyx.com/development/api-fundamentals/webhooks/receiving-webhooks
 */
export const verifySignature = async (
  publicKeys: readonly string[],
  { headers }: Request,
  body: Uint8Array,
): Promise<SignatureRefusal | undefined> => {
  const signature = headers.get(signatureHeaders.signature);
  const timestamp = headers.get(signatureHeaders.timestamp);
  if (!signature || !timestamp) return missing;
  const bytes = signatureShape.test(signature)
    ? withoutThrowing(() => decoded(signature))
    : undefined;
  if (!bytes || !/^\d{1,15}$/.test(timestamp)) return wrong;
  const signed = signedBytes(timestamp, body);
  for (const publicKey of publicKeys) {
    if (await crypto.subtle.verify("Ed25519", await keyOf(publicKey), bytes, signed)) {
      const isInTime = Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) <= tolerance;
      return isInTime ? undefined : expired;
    }
  }
  return wrong;
};
