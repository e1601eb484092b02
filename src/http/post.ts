import type { ExceptionFacts, Placed } from "../errors.ts";
import { arePlatforms, dispatchers } from "./dispatcher.ts";
import type { Head } from "./response.ts";

/** What sends a request: the platform's `fetch`, or anything that answers as it does. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Calls `fetch`, through ky or directly. It gets no key, header or body: those are in the function that
 * it calls, so that nothing that ky throws or logs can contain them.
 */
export type Send = (url: string, fetch: () => Promise<Response>) => Promise<Response>;

/** Sends straight on `fetch`. */
export const straight: Send = (_, fetch) => fetch();

/** The version of this package: that of package.json, as a test compares. */
export const version = "0.1.0";

const isBrowser = (): boolean => /^Mozilla\//.test(globalThis.navigator?.userAgent);

/** The `User-Agent`; none in a page, where another origin may not allow the header (CORS). */
const userAgent = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  isBrowser() || /^user-agent$/im.test(Object.keys(headers).join("\n"))
    ? {}
    : { "User-Agent": `outdial/${version}` };

/**
 * The body of a request, and what a platform's `fetch` needs beside it.
 *
 * Deno's fetch sends a POST again, when a kept connection dies under it, if it can copy the body: it
 * can't copy a Blob. Elsewhere a Blob only costs, a sixth of the call on Node. Bun sends a plain http
 * request, which only loopback gets, to the proxy of the environment, unless `proxy` is false.
 */
const bodyOf = ({ body, url }: EncodedCall): RequestInit => ({
  body: "Deno" in globalThis ? new Blob([body]) : body,
  ...("Bun" in globalThis && /^http:/i.test(url) && { proxy: false }),
});

/** The platform's `fetch`, before an application could replace it. */
const platformFetch = (() => globalThis.fetch)();

/**
 * Whether a request that begins now is sent once, so that its error shows what became of it. A `fetch` of the
 * caller's, one that replaced the platform's, or a dispatcher such as undici's `RetryAgent` may send
 * again, or fail for something else.
 *
 * @returns answers once the request has failed, as it costs more than a call
 */
export const sendsOnce = (own?: Fetch): (() => boolean) => {
  const isPlatform = !own && globalThis.fetch === platformFetch;
  const before = dispatchers();
  return () => isPlatform && arePlatforms(before) && arePlatforms(dispatchers());
};

/**
 * What a POST is sent with.
 *
 * @param own - the caller's headers
 */
export const initOf = (
  encoded: EncodedCall,
  own: Readonly<Record<string, string>>,
  signal: AbortSignal,
): RequestInit => ({
  method: "POST",
  redirect: "manual",
  headers: { ...userAgent(own), ...own, ...encoded.headers },
  signal,
  ...bodyOf(encoded),
});

/** One request, as `onAttempt` gets it: it may be logged as it is. */
export interface Attempt {
  /** The HTTP method: `create` sends a POST; `get`, `end`, `redirect` and `recording` what the service wants. */
  readonly method: "POST" | "GET" | "PUT";
  /** The URL, without a query. */
  readonly url: string;
  /** Which request of the function it was: `1` is the first. */
  readonly attempt: number;
  /** How long it took, from sending to the end of the response, or of the call. */
  readonly milliseconds: number;
  /** The HTTP status; absent when no head came. */
  readonly status?: number | undefined;
  /** The request's id at the service, when `x-request-id` or `request-id` has one. */
  readonly requestId?: string | undefined;
  /** `"yes"`: the call's id came. Otherwise as in the exceptions; absent where no call was being placed. */
  readonly placed?: Placed | "yes" | undefined;
}

/** Called with every request once it is over. */
export type OnAttempt = (attempt: Attempt) => unknown;

/**
 * Measures a POST from now on.
 *
 * @param known - of the call, when the POST ends
 * @returns ends the measurement: the first time that it is called, it calls `onAttempt`, which can
 * neither fail a call nor delay it
 */
export const measured = (
  onAttempt: OnAttempt,
  url: string,
  known: { readonly posts: number; readonly facts: ExceptionFacts },
): ((placed?: "yes") => void) => {
  const began = performance.now();
  let isOver = false;
  return (yes) => {
    if (isOver) return;
    isOver = true;
    const { code: status, requestId, placed } = known.facts;
    const report: Attempt = {
      method: "POST",
      url,
      attempt: known.posts,
      milliseconds: Math.round(performance.now() - began),
      status,
      requestId,
      placed: yes ?? placed,
    };
    (async () => onAttempt(report))().catch(() => {});
  };
};

/** A request that places a call, as it is sent. */
export interface EncodedCall {
  /** Where it is sent. */
  readonly url: string;
  /** All of its headers, with the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its body. */
  readonly body: string;
  /** Every form of the key in the request, such as the text of a Basic header: they are redacted, as the key is. */
  readonly secrets?: readonly string[];
  /** Pieces of what is too long to search for in every spelling, such as the lines of a PEM. */
  readonly pieces?: readonly string[];
  /** Reads the head of the response, and its body in outdial's own form; outdial's own reader where it is absent. */
  readonly headOf?: (response: Response, url: string, signal: AbortSignal) => Head;
}
