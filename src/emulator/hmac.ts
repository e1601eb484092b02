import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";

/** Gives the 32 bytes for a text. */
export type Hmac = (text: string) => Uint8Array;

const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * HMAC-SHA256 of texts with one key, without waiting. WebCrypto hands each signature to another
 * thread, which made up a third of what a call costs here; and a page that is not on https has none.
 */
export const hmacSha256 = (key: Uint8Array): Hmac => {
  const keyed = hmac.create(sha256, key);
  // What has taken in the key is copied to here for each text, and nothing is made anew.
  const work = keyed.clone();
  let room = new Uint8Array(2_048);
  return (text) => {
    if (room.length < text.length * 3) room = new Uint8Array(text.length * 3);
    const { written } = encoder.encodeInto(text, room);
    return keyed._cloneInto(work).update(room.subarray(0, written)).digest();
  };
};
