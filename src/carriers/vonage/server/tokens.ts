import { sha256 } from "@noble/hashes/sha2.js";
import { fieldsOf, isText, withoutThrowing } from "../../../lib/check.ts";
import { base64url, decoded, hex, utf8 } from "../../../lib/encoding.ts";
import { hmacSha256 } from "../../../server/account.ts";
import { publicKeyOf } from "./keys.ts";

/** A JWT in the header of credentials: header and claims, and the signature. */
const bearer = /^Bearer (([\w-]+)\.([\w-]+))\.([\w-]+)$/i;

const jsonIn = (part: string | undefined) =>
  fieldsOf(withoutThrowing(() => JSON.parse(new TextDecoder().decode(decoded(part ?? "")))));

/** Seconds by which the clocks of two machines may differ. */
const tolerance = 60;

/** Verifies the tokens of an application, which its private key signs. */
export class TokenVerifier {
  readonly #applicationId: string;
  #pem = "";
  #publicKey: Promise<CryptoKey | undefined> = Promise.resolve(undefined);

  constructor(applicationId: string) {
    this.#applicationId = applicationId;
  }

  /**
   * Why a token is refused, as the detail of the response; `undefined` for one that is accepted.
   *
   * @param pem - the application's private key at present
   */
  async refusal(authorization: string | null, pem: string): Promise<string | undefined> {
    const [, signed, head, claims, signature] = bearer.exec(authorization ?? "") ?? [];
    if (!signed || !signature) return "Authorization must be Bearer and a JWT";
    if (jsonIn(head).alg !== "RS256") return "The JWT must be signed with RS256";
    if (!(await this.#isSigned(signed, signature, pem))) return "The JWT has another key";
    const { application_id, iat, exp, jti } = jsonIn(claims);
    const now = Date.now() / 1000;
    if (application_id !== this.#applicationId) return "application_id is another application";
    if (!isText(jti)) return "jti is missing";
    if (typeof iat !== "number" || iat > now + tolerance) return "iat must be a time in the past";
    if (exp !== undefined && !(Number(exp) > now - tolerance)) return "The JWT has expired";
    return;
  }

  async #isSigned(signed: string, signature: string, pem: string): Promise<boolean> {
    if (pem !== this.#pem) {
      this.#pem = pem;
      // A key that can't be read has signed nothing.
      this.#publicKey = publicKeyOf(pem).catch(() => undefined);
    }
    const key = await this.#publicKey;
    const mac = withoutThrowing(() => decoded(signature));
    if (!key || !mac) return false;
    return crypto.subtle.verify("RSASSA-PKCS1-v1_5", key, mac, utf8(signed));
  }
}

/** Returns the token of a webhook with this body. */
export type SignWebhook = (body: string) => string;

/**
 * Signs webhooks: HS256, over the hash of the body.
 *
 * @param secret - the account's signature secret
 */
export const webhookSigner = (secret: string, application_id: string): SignWebhook => {
  const mac = hmacSha256(utf8(secret));
  const part = (value: object) => base64url(utf8(JSON.stringify(value)));
  const head = part({ typ: "JWT", alg: "HS256" });
  return (body) => {
    const claims = part({
      // Real time, as a receiver's tolerance is in real minutes.
      iat: Math.floor(Date.now() / 1000),
      jti: crypto.randomUUID(),
      iss: "Vonage",
      payload_hash: hex(sha256(utf8(body))),
      api_key: "a1b2c3d4",
      application_id,
    });
    return `${head}.${claims}.${base64url(mac(`${head}.${claims}`))}`;
  };
};
