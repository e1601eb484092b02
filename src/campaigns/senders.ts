import { utf8 } from "../lib/encoding.ts";

/** FNV-1a over a text that begins with a word of its own, so that it differs from that of the shards. */
const hashOf = (text: string): number =>
  utf8(`from:${text}`).reduce(
    (so_far, byte) => Math.imul(so_far ^ byte, 0x01000193),
    0x811c9dc5,
  ) >>> 0;

/** Who calls a telephone: one of the numbers, always the same while the numbers are. */
export const senderOf = (to_number: string, from_number: string | readonly string[]): string => {
  if (typeof from_number === "string") return from_number;
  // The low bits of the hash follow the last digit alone.
  const hash = hashOf(to_number);
  return from_number[((hash ^ (hash >>> 16)) >>> 0) % from_number.length] ?? "";
};
