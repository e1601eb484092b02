import { macOf } from "../../bytes/hmac.ts";
import { utf8 } from "../../bytes/utf8.ts";
import { type Secret, secretsOf } from "../../callbacks/url/token.ts";

/** Bytes as hexadecimal digits. */
export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** What stands in for the number of an erased contact, by each of the secrets; the first one is used. */
export const tombstones = (secret: Secret, to_number: string): Promise<readonly string[]> =>
  Promise.all(
    secretsOf(secret).map(
      async (each) => `#${hex(await macOf(each, utf8(`erased:${to_number}`)))}`,
    ),
  );
