import { decoded } from "../../bytes/base64.ts";
import { hmacKey } from "../url/token.ts";

/** Whether one of the secrets made a MAC; `crypto.subtle.verify` compares in constant time. */
export const isMadeBy = async (
  secrets: readonly Uint8Array<ArrayBuffer>[],
  mac: string,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> => {
  for (const secret of secrets) {
    const key = await hmacKey(secret, "verify");
    if (await crypto.subtle.verify("HMAC", key, decoded(mac), data)) return true;
  }
  return false;
};
