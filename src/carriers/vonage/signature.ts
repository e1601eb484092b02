import type { SignatureRefusal } from "../../flows/webhooks.ts";
import { fieldsOf, withoutThrowing } from "../../lib/check.ts";
import { decoded, utf8 } from "../../lib/encoding.ts";
import { isMacOf, sha256 } from "../../lib/hmac.ts";

/** A JWT in the header of credentials: header and claims, and the signature. */
const bearer = /^Bearer (([\w-]+)\.([\w-]+))\.([\w-]+)$/i;

/** Vonage delivers again after 503: after an error of its own it may send a request unsigned. */
const missing: SignatureRefusal = ["no_signature", [503, "The token of Vonage is missing."]];

const wrong: SignatureRefusal = [
  "wrong_signature",
  [
    401,
    "The token of Vonage was made for another body, with another signature secret, or not by HS256.",
  ],
];

const otherApplication: SignatureRefusal = [
  "wrong_signature",
  [401, "The token of Vonage is for another application than the option applicationId."],
];

const expired: SignatureRefusal = [
  "expired_signature",
  [401, "The time of Vonage's token is more than 5 minutes off, or it has expired."],
];

/** Seconds that a token's time may be off, to either side. Vonage's own have no time at which they expire. */
const tolerance = 300;

const jsonIn = (part: string | undefined) =>
  fieldsOf(withoutThrowing(() => JSON.parse(new TextDecoder().decode(decoded(part ?? "")))));

/**
 * Verifies the token of a signed webhook: HS256 by the account's signature secret, over the hash of the raw body.
 *
 * @param secrets - the signature secrets that may have signed
 * @param applicationId - a token that names no application is for any
 * @returns why the request is refused
 * @see https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks
 */
export const verifySignature = async (
  secrets: readonly string[],
  { headers }: Request,
  body: Uint8Array,
  applicationId: string,
): Promise<SignatureRefusal | undefined> => {
  const authorization = headers.get("authorization");
  if (!authorization) return missing;
  const [, signed, head, claims, signature] = bearer.exec(authorization) ?? [];
  if (!signed || !signature || jsonIn(head).alg !== "HS256") return wrong;
  const mac = withoutThrowing(() => decoded(signature));
  if (!mac || !(await isMacOf(secrets, mac, utf8(signed)))) return wrong;
  const { payload_hash, iat, exp = Infinity, application_id = applicationId } = jsonIn(claims);
  if (String(application_id).toLowerCase() !== applicationId.toLowerCase()) return otherApplication;
  if (payload_hash !== (await sha256(body))) return wrong;
  const now = Date.now() / 1000;
  const isInTime = Math.abs(now - Number(iat ?? Number.NaN)) <= tolerance && now < Number(exp);
  return isInTime ? undefined : expired;
};
