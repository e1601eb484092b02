import type { Placed } from "../errors.ts";
import { type BodySource, readBody } from "../lib/body.ts";
import { withoutThrowing } from "../lib/check.ts";

/** The head of a response, read once: a `fetch` of the caller's may return anything. */
export interface Head {
  /** The HTTP status. */
  readonly status: number;
  /** Whether it is a 2xx from the URL that was requested. */
  readonly ok: boolean;
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
    placed: !isMoved && placedNothing.test(String(status)) ? "no" : "maybe",
    header: (name) => withoutThrowing(() => String(headers.get(name) ?? "")) ?? "",
    source: response,
  };
};

/** The most bytes of a response that are read, after decompression. */
const limit = 2 ** 20;

/** The text of a response; empty past 1 MiB. */
export const readText = async ({ source }: Head, signal: AbortSignal): Promise<string> => {
  const { bytes, isWhole } = await readBody(source, limit, signal);
  return isWhole ? new TextDecoder().decode(bytes) : "";
};
