import { base64, decodedHex, utf8 } from "../../../lib/encoding.ts";
import { signedBytes } from "../signature.ts";
import { signatureHeaders } from "../wire.ts";

/** The public key of the emulator, as the portal shows one: that of test 1 in RFC 8032. */
export const publicKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

/** Its private key as PKCS #8. It is published, so it proves nothing. */
const privateKey =
  "302e020100300506032b657004220420" +
  "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

/** @throws {TypeError} where Web Crypto has no Ed25519 */
const importKey = async (): Promise<CryptoKey> => {
  try {
    return await crypto.subtle.importKey("pkcs8", decodedHex(privateKey), "Ed25519", false, [
      "sign",
    ]);
  } catch (cause) {
    const message = "The emulated Telnyx signs with Ed25519, which Web Crypto lacks here";
    throw new TypeError(message, { cause });
  }
};

/** Signs what an emulator sends. */
export interface BodySigner {
  /** Returns the headers that sign a body. */
  readonly sign: (body: string) => Promise<Readonly<Record<string, string>>>;
  /**
   * Makes sure that bodies can be signed.
   *
   * @throws {TypeError} where Web Crypto has no Ed25519
   */
  readonly prepare: () => Promise<void>;
}

/** Signs bodies with Ed25519 of Web Crypto, which every runtime has but older browsers. */
export const bodySigner = (): BodySigner => {
  let key: Promise<CryptoKey> | undefined;
  const keyOf = (): Promise<CryptoKey> => {
    key ??= importKey();
    return key;
  };
  return {
    prepare: async () => void (await keyOf()),
    sign: async (body) => {
      // Real time, as a receiver's tolerance is in real minutes.
      const timestamp = String(Math.floor(Date.now() / 1000));
      const bytes = signedBytes(timestamp, utf8(body));
      const signature = await crypto.subtle.sign("Ed25519", await keyOf(), bytes);
      return {
        [signatureHeaders.signature]: base64(new Uint8Array(signature)),
        [signatureHeaders.timestamp]: timestamp,
      };
    },
  };
};
