import type { Placed } from "../errors.ts";
import { type BodySource, chunksOf, maxChunks } from "../lib/body.ts";
import { withoutThrowing } from "../lib/check.ts";

/** The head of a response, read once: a `fetch` of the caller's may return anything. */
export interface Head {
  /** The HTTP status. */
  readonly status: number;
  /** Whether it is a 2xx from the URL that was requested. */
  readonly ok: boolean;
  /** Whether it came through a redirect, from another URL. */
  readonly isMoved: boolean;
  /** Whether a call may have been placed, unless this is a 2xx with a call in its body. */
  readonly placed: Placed;
  /** The value of a header, empty when there is none. */
  readonly header: (name: string) => string;
  /** The response, for its body. */
  readonly source: BodySource;
}

/**
 * A 4xx refuses, except those that a service or a proxy may send for a request that was processed;
 * 307 and 308 ask for the same POST elsewhere. After every other status a call may have been placed.
 */
const placedNothing = /^(30[78]|4(?!08|09|25|99)..)$/;

/**
 * The head of what a `fetch` returned. A response that came through a redirect, which a `fetch` of the
 * caller's may follow, is another URL's: it proves nothing about the POST.
 *
 * @throws {TypeError} when it is no response
 */
export const headOf = (response: Response, url: string): Head => {
  const { status, redirected, headers } = response;
  if (!Number.isInteger(status)) throw new TypeError("fetch gave no Response");
  const is2xx = status >= 200 && status < 300;
  // The Edge VM never sets `redirected`: only the URL shows it.
  const isMoved = redirected || (!is2xx && !!response.url && response.url !== new URL(url).href);
  return {
    status,
    ok: is2xx && !isMoved,
    isMoved,
    placed: !isMoved && placedNothing.test(String(status)) ? "no" : "maybe",
    header: (name) => withoutThrowing(() => String(headers.get(name) ?? "")) ?? "",
    source: response,
  };
};

/** How many characters of a response are read, after decompression. */
const limit = 2 ** 20;

/**
 * The text of a response. `readBody`, which handlers use, would cost each call a seventh more.
 *
 * @param signal - of this request alone, since nothing is removed from it; cancels the body when it aborts, which may
 * ignore the signal of its request
 * @param tooLong - what is returned for a body past its limit
 * @throws {TypeError} when a chunk is not bytes, and what the body rejects with
 */
export const readText = async (
  { source }: Head,
  signal: AbortSignal,
  tooLong = "",
): Promise<string> => {
  const { body } = source;
  if (!body) {
    const text = (await source.text?.()) ?? "";
    return text.length > limit ? tooLong : text;
  }
  const { next, cancel } = chunksOf(body);
  const stop = () => {
    (async () => cancel())().catch(() => {});
  };
  signal.addEventListener("abort", stop);
  const decoder = new TextDecoder();
  let text = "";
  let isOver = false;
  try {
    for (let reads = 0; text.length <= limit && reads < maxChunks && !signal.aborted; reads++) {
      const { value } = (await next()) ?? {};
      isOver = !value;
      text += decoder.decode(value, { stream: !isOver });
      if (isOver) return text;
    }
    return tooLong;
  } finally {
    if (!isOver) stop();
  }
};
