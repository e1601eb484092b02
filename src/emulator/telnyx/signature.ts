import { base64, decodedHex } from "../../lib/encoding.ts";
import { signedBytes } from "../../telnyx/signature.ts";
import { signatureHeaders } from "../../telnyx/wire.ts";

/** The public key of the emulator, as the portal shows one: that of test 1 in RFC 8032. */
export const publicKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

/** Its private key as PKCS #8. It is published, so it proves nothing. */
const privateKey =
  "302e020100300506032b657004220420" +
  "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

const importKey = (): Promise<CryptoKey> =>
  crypto.subtle.importKey("pkcs8", decodedHex(privateKey), "Ed25519", false, ["sign"]);

/** Returns the headers that sign a body. */
export type SignBody = (body: string) => Promise<Readonly<Record<string, string>>>;

/** Signs bodies with Ed25519 of Web Crypto, which every runtime has but older browsers. */
export const bodySigner = (): SignBody => {
  let key: Promise<CryptoKey> | undefined;
  return async (body) => {
    key ??= importKey();
    // Real time, as a receiver's tolerance is in real minutes.
    const timestamp = String(Math.floor(Date.now() / 1000));
    const bytes = signedBytes(timestamp, new TextEncoder().encode(body));
    const signature = await crypto.subtle.sign("Ed25519", await key, bytes);
    return {
      [signatureHeaders.signature]: base64(new Uint8Array(signature)),
      [signatureHeaders.timestamp]: timestamp,
    };
  };
};
