import { createPrivateKey, sign } from "node:crypto";
import { signedBytes } from "../../../src/telnyx/signature.ts";

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
