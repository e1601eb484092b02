import { createHash, createHmac } from "node:crypto";
import { applicationSide, type SignatureSecret } from "../../../src/carriers/vonage/application.ts";
import type { Service } from "../../../src/service.ts";

export const applicationId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";

/** The signature secret of the tests. */
export const signatureSecret = "the signature secret of an account";

/** A side that no test of the application side uses. */
const unused = (): never => {
  throw new Error("unused");
};

/** Vonage with its application side alone. */
export const serviceWith = (given?: SignatureSecret): Service => ({
  name: "vonage",
  account: applicationId,
  callsPerSecond: 3,
  get client() {
    return unused();
  },
  get live() {
    return unused();
  },
  get media() {
    return unused();
  },
  application: applicationSide({ applicationId, signatureSecret: given }),
});

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The parts of a signed webhook that a test replaces. */
export interface TokenParts {
  readonly head?: object;
  readonly claims?: object;
  readonly secret?: string;
}

/** The token of a signed webhook, by Node's own HMAC. */
export const tokenFor = (
  body: string,
  { head = {}, claims = {}, secret = signatureSecret }: TokenParts = {},
): string => {
  const payload_hash = createHash("sha256").update(body).digest("hex");
  const iat = Math.floor(Date.now() / 1000);
  const own = { iat, jti: "c0ffee", iss: "Vonage", payload_hash, api_key: "a1b2c3d4" };
  const signed = `${part({ alg: "HS256", typ: "JWT", ...head })}.${part({ ...own, ...claims })}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
};

/** A request of Vonage's, with its token. */
export const signed = (url: string, fields: object = {}, parts: TokenParts = {}): Request => {
  const body = JSON.stringify(fields);
  const headers = {
    "Content-Type": "application/json",
    Authorization: `Bearer ${tokenFor(body, parts)}`,
  };
  return new Request(url, { method: "POST", headers, body });
};
