import { joined } from "../../bytes/joined.ts";
import { RefusedException } from "./refused.ts";

/** The most that is read of a body, in bytes. */
const largest = 65_536;

/** The most that a body may take, in milliseconds: the service itself gives up then. */
const longest = 10_000;

/**
 * The raw bytes of a request, at most 64 KiB of them, and within 10 s: a sender that stalls must not
 * hold a handler for ever. A chunk of no bytes counts as one, as no timer fires while such chunks keep
 * coming. What the head says of the length is only believed when it says too much.
 *
 * @throws {RefusedException} `too_large` or `too_slow`
 */
export const readBytes = async ({ headers, body }: Request): Promise<Uint8Array<ArrayBuffer>> => {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let left = Number(headers.get("content-length")) > largest ? -1 : largest;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RefusedException("too_slow")), longest);
  });
  try {
    while (left >= 0) {
      const { value } = (await Promise.race([reader?.read(), late])) ?? {};
      if (!value) return joined(chunks, size);
      chunks.push(value);
      size += value.length;
      left -= value.length || 1;
    }
    throw new RefusedException("too_large");
  } finally {
    clearTimeout(timer);
    reader?.cancel().catch(() => {});
  }
};
