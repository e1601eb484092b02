import { RefusedException } from "./refused.ts";

/** The most that is read of a body, in bytes. */
const largest = 65_536;

/** The most that a body may take, in milliseconds: the service itself gives up then. */
const longest = 10_000;

/**
 * The raw bytes of a request, at most 64 KiB of them, and within 10 s: a sender that stalls must not
 * hold a handler for ever.
 *
 * @throws {RefusedException} `too_large` or `too_slow`
 */
export const readBytes = async ({ headers, body }: Request): Promise<Uint8Array<ArrayBuffer>> => {
  const reader = body?.getReader();
  const bytes = new Uint8Array(largest);
  let size = Number(headers.get("content-length")) > largest ? Number.POSITIVE_INFINITY : 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RefusedException("too_slow")), longest);
  });
  try {
    while (size <= largest) {
      const { value } = (await Promise.race([reader?.read(), late])) ?? {};
      if (!value) return bytes.subarray(0, size);
      if (size + value.length <= largest) bytes.set(value, size);
      size += value.length;
    }
    throw new RefusedException("too_large");
  } finally {
    clearTimeout(timer);
    reader?.cancel().catch(() => {});
  }
};
