import { createPrivateKey, sign } from "node:crypto";
import { signedBytes } from "../../../src/carriers/telnyx/signature.ts";

/** Test 1 of RFC 8032: its secret key as PKCS#8, and its public key as Telnyx's portal shows one. */
export const publicKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

const privateKey = createPrivateKey({
  key: Buffer.from(
    "302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "hex",
  ),
  format: "der",
  type: "pkcs8",
});

/** The signature of a body, by Node's own Ed25519. */
export const signatureOf = (body: string, timestamp: string): string =>
  sign(null, signedBytes(timestamp, Buffer.from(body)), privateKey).toString("base64");

/** The present, in Unix seconds. */
export const now = (): number => Math.floor(Date.now() / 1000);

/** The headers of a signed body. */
export const headersOf = (body: string, timestamp = String(now())): Record<string, string> => ({
  "Telnyx-Signature-Ed25519": signatureOf(body, timestamp),
  "Telnyx-Timestamp": timestamp,
});

/** A request of Telnyx's, signed. */
export const signed = (url: string, fields: Readonly<Record<string, string>> = {}): Request => {
  const body = new URLSearchParams(fields).toString();
  const headers = { "Content-Type": "application/x-www-form-urlencoded", ...headersOf(body) };
  return new Request(url, { method: "POST", headers, body });
};
