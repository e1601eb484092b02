import { joined } from "../../bytes/joined.ts";
import { refuse } from "../../rules/refuse.ts";
import { RefusedException } from "../refused.ts";
import type { Limit } from "./limit.ts";

/** The most that is read of a body, in bytes. */
const largest = 65_536;

const tooSlow = (): Error => new RefusedException("too_slow");

/**
 * The bytes of a chunk, as many as there are: a platform's request may be of any make, and what it says
 * of its own chunks would decide whether the reading ends.
 */
const bytesOf = (chunk: unknown): Uint8Array => {
  if (ArrayBuffer.isView(chunk)) {
    return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  return refuse("request", "has a body that doesn't consist of bytes");
};

/**
 * The raw bytes of a request, at most 64 KiB of them, and within the limit: a sender that stalls must
 * not hold a handler for ever. A chunk of no bytes counts as one, as no timer fires while such chunks
 * keep coming. What the head says of the length is only believed when it says too much.
 *
 * @throws {RefusedException} `too_large` or `too_slow`
 * @throws {BadParametersException} when the body doesn't consist of bytes
 */
export const readBytes = async (
  { headers, body }: Request,
  limit: Limit,
): Promise<Uint8Array<ArrayBuffer>> => {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let left = Number(headers.get("content-length")) > largest ? -1 : largest;
  try {
    while (left >= 0) {
      const { value } = (await limit(reader?.read(), tooSlow)) ?? {};
      if (!value) return joined(chunks, size);
      const chunk = bytesOf(value);
      chunks.push(chunk);
      size += chunk.length;
      left -= chunk.length || 1;
    }
    throw new RefusedException("too_large");
  } finally {
    (async () => reader?.cancel())().catch(() => {});
  }
};
