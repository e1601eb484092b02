import { createPublicKey, generateKeyPairSync } from "node:crypto";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** A private key of nobody's, in both forms that an application may have, and its public key. */
export const pem = String(privateKey.export({ type: "pkcs8", format: "pem" }));
export const pkcs1 = String(privateKey.export({ type: "pkcs1", format: "pem" }));
export const publicKey = createPublicKey(privateKey);

/** The same encrypted, and a key of another kind: both are refused. */
const encryption = { cipher: "aes-256-cbc", passphrase: "a passphrase" };
export const refusedKeys = {
  "an encrypted PEM": String(privateKey.export({ type: "pkcs8", format: "pem", ...encryption })),
  "an encrypted PEM of PKCS#1": String(
    privateKey.export({ type: "pkcs1", format: "pem", ...encryption }),
  ),
  "a public key": String(publicKey.export({ type: "spki", format: "pem" })),
  "a PEM that ends early": pem.slice(0, 400),
  "no PEM": "the-signature-secret-of-an-account",
};

/** They look like a private key of RSA: only Web Crypto sees that they are none. */
export const unusableKeys = {
  "a PEM with a line less": pem.replace(/\n[^\n]+/, "\n"),
  "a PEM of PKCS#8 in the name of PKCS#1": pem.replaceAll("PRIVATE", "RSA PRIVATE"),
  "a PEM of PKCS#1 in the name of PKCS#8": pkcs1.replaceAll("RSA PRIVATE", "PRIVATE"),
  "an elliptic key": String(
    generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey.export({
      type: "pkcs8",
      format: "pem",
    }),
  ),
};
