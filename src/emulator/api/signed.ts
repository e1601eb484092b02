import { base64 } from "../../bytes/base64.ts";
import { hmacSha256 } from "../hmac.ts";
import { isSame } from "./account.ts";

/** How long the address of a recording is good for, in milliseconds: a week. */
const goodFor = 7 * 24 * 3_600_000;

/** The addresses of recordings, which whoever was given one may fetch without the key. */
export class SignedRecordings {
  /** The emulator's own secret, which nobody else needs. */
  readonly #hmac = hmacSha256(crypto.getRandomValues(new Uint8Array(32)));

  /** @param origin - where the request for the call came in */
  urlOf(origin: string, id: string): string {
    // The wall's time: whoever fetches it lives by that.
    const expires = String(Math.floor((Date.now() + goodFor) / 1000));
    const signature = this.#sign(id, expires);
    return `${origin}/recordings/${id}.wav?expires=${expires}&signature=${signature}`;
  }

  /** Whether the address of a call's recording was given out here, and is still good. */
  accepts(id: string, query: URLSearchParams): boolean {
    const expires = query.get("expires") ?? "";
    const isOurs = isSame(query.get("signature") ?? "", this.#sign(id, expires));
    return isOurs && Number(expires) * 1000 > Date.now();
  }

  #sign(id: string, expires: string): string {
    const text = base64(this.#hmac(`${id}.${expires}`));
    return text.replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
  }
}
