import { sha256 } from "@noble/hashes/sha2.js";
import { fieldsOf, isText, withoutThrowing } from "../../../lib/check.ts";
import { base64url, decoded, hex, utf8 } from "../../../lib/encoding.ts";
import { importPem, rs256 } from "../../../lib/pem.ts";
import { hmacSha256 } from "../../../server/account.ts";

/**
 * Two private keys (PKCS#8) that are published: an application of the emulator has one of them, as making an RSA key
 * takes longer than starting an emulator. They protect nothing.
 */
const bodies = [
  `
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDjMySWexwxd0k5
Te2tkPlJ80cigmJYwzm0xNiONGZ8WcyBgfysH6vjbkkfcG/acaVfD14i+di85pBX
umInY1U/G0f6r2BzGJD1caMB8HP+CAM01t0En1/K3c5C5kku7wM8X4fak0UhdD1/
d9dyV7IA6dxsIYYSZjk1LpscOBgMrhM2/2GQoGKqyvOi/PmLwS6aE9ejqKKvn0qF
ZjP6FBeJUmWLNnGJhv76uVLIIBEAaKZ9a7sCNiz9ZiA87GU8Ax/M5noyEFtJ44lh
oYF5/bmDuG++EPwNcSOie1L+EQOGrx73PPAfHWKHrjR/n5w35joEmQtur8em6rfT
GABmnyMtAgMBAAECggEAAIzjagzmytTh48ZlTL4U6IGzGqmLsPDaHy654pBMbkEu
bmLg+I7EFRMzkKSuVK5hSutn3DhUNtLtJxU/vx4tuu8nO7t4hZbZ5QpPLYZGVadx
0IszslrrebuTUBSsOTWhgaAunVAtgvD75CbnafK97uQiIU3se/ds7IzOGeGl50P0
gyerfoJI2Jf7asi5AxN2V4QFvFFAXxrqeNdrRoGaR6WOcHIESFtUf5FVP1QxkNda
GRtBMgt9TA6k+Tzj2oM7sTmJC6wtgyMT+VZp7k7GwrDolYcJlFM3bImaPIZGq6Q2
DxwlU7Ffp/ydX5XaLpbbWT5YXwHCy4xEbl7Z55/oEQKBgQD6GOYKB/xYmJKxHC8p
McYoXL6UqDis7s32/zV5xkLXtky+3sKg1pPm0INcSScwXAIWcS0Qvf64ZQynCrCP
WAJOYpDZXfJAKcT1y6qsP9ywWHFAnSTq8CuYwed4G0UhynQTeKdusT9FBUnP3tsU
4hrh3h0QBTYKrexSZVXhf1MDHQKBgQDoj+V/j3KvjxHxd6l0wgjdJ2Dzaro88FQ5
tfAI7+G4Xfg1Yr89Wav4exzc1iXMBn+n5pYQlikyZ0JxuelyEQQdrbJR4Q+ymu86
oDlSpwxdetQ+9GE2BdChcnmcmJjFPqOKXzYPmRWXFRrXmymw9Ctk46bvJyVlZO/q
piWoaqATUQKBgQDsG3t5NubOAWRjnjcLzfjEfCJUF6hB4sVBjNhAWaMbIPi9LXJT
A6DnxCxvgIRlzEcQRtKDvsrt7EAQpy/ec/jhZX5YJ7AfUQ+n+RnsufGv7h8lH/YN
cqXF9jF/G0edyhLhmwN+pgkUMRTpEPyFb5xvZhDL4g+N73puo0p7s4d8JQKBgFPR
KOGkja0AX3MrsYNHO3KZcrPIT38PDwwNqolOC4grNf3nrQ0reHOBy5E8DTtPTErz
LDqmJArqdGQQoTZfM6COraoc909jz7zNaluDoU0/q6dU5IRX7C2D2Ji71rOgM8j3
L8DHZ6SgEqCKZ6hDGDCwa8Xd0fiNPHrRjtj4NOFBAoGBAJQmqvE6ihZvkxMAFP7S
WMWWwg73EdRokRBdicEkBjZg7QPavmp3vpd4OomafNADv4Hz6tmJej7VBi6h4eHZ
ytpBIaBVqdpkLbeeC4r73kG9uzrQJ9SmVIg4B3ZH6+TW8XfeG4QtBYCDICF0uuFV
p/oZKp0d4UqpyvQ5hMeMG1/w
`,
  `
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDj0qkKmG+5oTX4
q+5oJ8wscJDjudWHJsKVIwfmncRocDsW/KJqQqwXRxMXvPvP5krVb4euGO8poh/M
kEvvOQk3ijvxJi8U9fTnuirybTymQzyrr70UIzjjZVDwxWwgysbGKt4ZUA0WN5Au
2kU414l70t7wx7VZZuPWYiuNeqbvNnsMyLqikbVQJUpcqDH4oCOprnOn2saaKs8v
qoeoFZOkkn9jiS4lkeILwLMRnXBOBk9tdMkrXfTt6hOIwT5x1fP8IPewlIyns+oy
HNRizD6BF60cI/AYCgImbppMvLlwQHb5WZIgjoYaPUvvK78J/ZnaUoF94I8pH84R
lHo3QGP1AgMBAAECggEAGdOoWSylwcf+S9YF3WXhlgoeysom5D7nISwK+cBZ4zMR
5821BdHQG4Vxqye/7jYftqmBmqF1/2TDMRgMm65+Fn9Dw1c+UCR/4oMu2jO7A+gs
aRQvnahOiyzRq7Hdy6vhM9bpPbpe+W1MGZuh7Es26UQjBO3G578rxgJ0CIJmiUiP
e02eNZj2+uxMeVMqJjidyYsskQZ+BfwVrw55/G504JNL21AbbnUX/qiimyhxmv/R
Jl8wluxGyNfs4CyMZBdWfVtfb9IA9Z2yCHMhyv3M7pgk7YrB/5ggx5dv0Ij/2U9y
BgLZRSVqUIi2AYX8RozvF22kvTPuLgGkkqaPHnrcgQKBgQD/rJFUj/UfySRYhgI0
bEfqoFtKvEBigb0xiYwAQlWqzI0rjy//WjZrRr2ddiQF1lslvSFvgurGW7Dro/dv
u1uiu4LYitAEOfnqQAFy5p+sKnZNQxJdPTXQEIeu7hyFFLxOue+AM87ier7ymb1D
GNEzY8WxR8PRkGQSzG29oME9wQKBgQDkHQEPKgTzzmOz4U7iKJ3B1+Wz4SSu9F1u
rcfMb4mYJNZUg85LZEKoCONouaygot0I2DK4dpPkVDXSuq8nDmwINq52JTfrqUw7
LDagy8RgJ7JuEoUJ1zlHwGf7ceTQF+964K23k/9i6gGlmMLk4V4Zk5bi5Hos6bJb
PrQJVwtbNQKBgQCKgkJ5PUPeZGl8S50GKWMMiLLsWe/HbeHA5HMj8MvYK9iOsJOg
Eo9Irpoqo8YAI5BdcYibkKD/tMyz27BAp4+NKWhJR2pJ3960ONiQFsCJ1LciRCO+
v1pXzZyz9+sbbZBWVgSZv3dk2np3kzIlF1y+Kl7/G5HKBh8wz+7jvCL0AQKBgQCh
OZ62CQzXBNiTGnuWfP6DMwS2zjoPLcebolfEtlCZp++UbFQyFPrHqQCR1Cmen315
8tRma+i7SImCF1AUWq0gYQWNm2Cav12RtP4nR93T2DrUcWJ2QhfKDsNvhGAkc8Zf
Is2lIoUudBYV5JJbEq5fhWDvnGx9se7NbtPwhgUQwQKBgBr7oN4F9WW4vOViOhEy
grr/RbT330VEmQkcnd37mNd4Njbw+cFjDHpIR5KtTjA607jYuG2TNwrvtPO6u30L
dY6UxHa7CP/3oYLnqplWTKOo4khtzt7QfTw3M5F0cx3gUE9oQPB9PjKeJ4tphqPr
7//sxCI9NVJwaBwozSPSAHB0
`,
] as const;

/** Returns the published keys in turn, each as a PEM. */
export const testKeys = (): (() => string) => {
  let count = 0;
  return () => {
    const body = bodies[count++ % bodies.length] ?? bodies[0];
    return `-----BEGIN PRIVATE KEY-----\n${body.trim()}\n-----END PRIVATE KEY-----\n`;
  };
};

/**
 * The public key of a private key's PEM, which verifies RS256.
 *
 * @throws {DOMException} when it is no RSA key
 */
const publicKeyOf = async (text: string): Promise<CryptoKey> => {
  const { subtle } = crypto;
  const privateKey = await importPem(text, true);
  const { kty, n, e } = await subtle.exportKey("jwk", privateKey);
  const jwk = { kty, n, e } as JsonWebKey;
  return subtle.importKey("jwk", jwk, rs256, false, ["verify"]);
};

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
