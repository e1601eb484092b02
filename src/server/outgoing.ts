import { failedHeader, refusedHeader } from "../callbacks/errors.ts";
import { withDeadline } from "../http/deadline.ts";
import { type Body, readBody } from "../lib/body.ts";
import { isRecord } from "../lib/check.ts";
import { maxUrl, routeOf } from "../lib/url.ts";
import { FlowError } from "../performer/line.ts";
import type { FlowErrorEntry, Stamp } from "./history.ts";

/** The message of what user code threw: it may be anything, and may throw when it is read. */
export const messageOf = (thrown: unknown): string => {
  try {
    return String((isRecord(thrown) ? thrown.message : undefined) ?? thrown);
  } catch {
    return "an error without a readable message";
  }
};

/** The status of a response, with the reason that a handler of this package refuses a request for. */
export const statusIn = ({ status, headers }: Response): string => {
  const reason = headers.get(refusedHeader) ?? "";
  return `HTTP ${status}${/^[a-z_]{1,40}$/.test(reason) ? ` (${refusedHeader}: ${reason})` : ""}`;
};

/**
 * Logs that `flowHandler` of this package hangs up a call, as a function of the application failed. To the service nothing is
 * wrong, so the call goes on to its end.
 */
export const logFailure = (
  { headers }: Response,
  step: number,
  call: { readonly log: (entry: Omit<FlowErrorEntry, keyof Stamp>) => void },
): void => {
  const failed = headers.get(failedHeader)?.slice(0, 200);
  if (!failed) return;
  const rule = `answered hangup, as a function of yours failed (${failedHeader}: ${failed})`;
  const { field, message } = new FlowError(step, "flow_url", rule);
  call.log({ type: "flow_error", step, field, message });
};

/** The message of the innermost cause, which is the most precise. */
const rootMessageOf = (thrown: unknown): string => {
  try {
    let message = messageOf(thrown);
    let cause = isRecord(thrown) ? thrown.cause : undefined;
    for (let depth = 0; isRecord(cause) && depth < 5; depth++) {
      message = String(cause.message ?? message);
      cause = cause.cause;
    }
    return message;
  } catch {
    return messageOf(thrown);
  }
};

/** The rules of one request. */
export interface RequestRules {
  /** How many bytes of the response are read. */
  readonly limit: number;
  /** Which redirects are followed. */
  readonly redirects: "none" | "origin" | "any";
  readonly reach: Reach;
  /** Aborts the request. */
  readonly signal: AbortSignal;
}

/** The result of a request. */
export interface RequestResult {
  /** Milliseconds that it took. */
  readonly ms: number;
  /** The response, if its head came. */
  readonly response?: Response | undefined;
  /** The beginning of its body, if it came. */
  readonly body?: Body | undefined;
  /** Why there is no body. */
  readonly error?: string;
  /** Whether it took too long. */
  readonly timedOut?: boolean;
}

/** Sends a request of the service's own. It never throws. */
export type Requester = (
  url: string,
  init: RequestInit,
  rules: RequestRules,
) => Promise<RequestResult>;

/** Sends one request, like `fetch`. */
export type Send = (
  request: Request,
  init: { readonly signal: AbortSignal },
) => Response | Promise<Response>;

/** Whether a value is a response: an application in the same process may return anything. */
const isResponse = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value.status === "number" &&
  isRecord(value.headers) &&
  typeof value.headers.get === "function";

/** How a URL is reached: with TLS, or in plain text on this machine, on one of its network, or on any other. */
type Way = "https" | "loopback" | "private" | "plain";

/** The ways in which requests may be sent. */
export type Reach = ReadonlySet<Way>;

/**
 * The ways of a service.
 *
 * @param isLocal - whether it is on the machine of whoever uses it: what is private there is theirs
 * @param isPlain - whether it accepts URLs of plain http, as carriers do
 */
export const reachOf = (isLocal: boolean, isPlain: boolean): Reach =>
  new Set<Way>([
    "https",
    ...(isPlain ? (["plain"] as const) : []),
    ...(isLocal ? (["loopback"] as const) : []),
    ...(isLocal && isPlain ? (["private"] as const) : []),
  ]);

/** Whether a host is an address, or a name that no public server has. */
const isPrivate = (host: string): boolean =>
  /^[\d.]+$|^\[|^[^.]+$|\.(internal|local|lan)$/.test(host);

/** How a URL is reached; `undefined` for one that isn't requested at all. */
export const wayOf = (url: string, most?: number): Way | undefined => {
  const route = routeOf(url, "http", most);
  if (route || !/^http:/i.test(url)) return route;
  // Of plain http only what would be accepted with TLS, whose scheme is a character longer.
  if (!routeOf(url.replace(/^http/i, "https"), "http", (most ?? maxUrl) + 1)) return;
  return isPrivate(new URL(url).hostname) ? "private" : "plain";
};

/**
 * Whether a URL may be requested.
 *
 * @param most - the most characters that it may have; by default those of outdial's own interface
 */
export const isAllowed = (url: string, reach: Reach, most?: number): boolean => {
  const way = wayOf(url, most);
  return way !== undefined && reach.has(way);
};

/** Whether a media socket may be opened: the carriers send no audio in plain text to another machine. */
export const isSocketAllowed = (url: string, reach: Reach): boolean => {
  const way = wayOf(url.replace(/^ws/i, "http"));
  return way === "https" || (way === "loopback" && reach.has(way));
};

/** Whether a redirect stays where it is: within the origin, or on the same host with TLS. */
export const isWithin = (from: URL, to: URL): boolean =>
  to.origin === from.origin || (to.protocol === "https:" && to.host === from.host);

/** @throws {TypeError} when the rules forbid to follow the redirect */
const redirectTarget = (url: string, to: string, { redirects, reach }: RequestRules): string => {
  const target = new URL(to, url);
  if (redirects === "origin" && !isWithin(new URL(url), target)) {
    throw new TypeError("redirects to another origin");
  }
  if (!isAllowed(target.href, reach)) throw new TypeError("redirects to where it must not");
  return target.href;
};

const maxRedirects = 5;

/** The GET that follows a redirect: with the range that is wanted, without the account's signature and credentials. */
const bareGet = ({ headers }: RequestInit): RequestInit => {
  const range = new Headers(headers).get("Range");
  return range === null ? {} : { headers: { Range: range } };
};

const exchange = async (
  send: Send,
  url: string,
  init: RequestInit,
  rules: RequestRules,
  signal: AbortSignal,
): Promise<Response> => {
  let address = url;
  let options = init;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    // The signal is passed beside the request: a `Request` with one takes twice as long to make.
    const request = new Request(address, { ...options, redirect: "manual" });
    const response = await send(request, { signal });
    if (!isResponse(response)) throw new TypeError("gave no Response");
    const { status, headers, body, type } = response;
    if (rules.redirects === "none") return response;
    if (type === "opaqueredirect") throw new TypeError("redirects");
    const location = status >= 300 && status < 400 && headers.get("location");
    if (!location) return response;
    body?.cancel().catch(() => {});
    const target = redirectTarget(address, location, rules);
    const isSameOrigin = new URL(target).origin === new URL(address).origin;
    if (status < 307 || !isSameOrigin) options = bareGet(options);
    address = target;
  }
  throw new TypeError(`redirects more than ${maxRedirects} times`);
};

/**
 * @param timeout - milliseconds of real time for one request, its redirects and body included
 * @param clock - what its milliseconds are taken by
 */
export const requester =
  (send: Send, timeout: number, clock: () => number = () => performance.now()): Requester =>
  async (url, init, rules) => {
    const start = clock();
    const ms = () => Math.round(clock() - start);
    let lateError: Error | undefined;
    const late = () => {
      lateError = new Error(`no answer within ${timeout} ms`);
      return lateError;
    };
    let response: Response | undefined;
    try {
      const body = await withDeadline(timeout, rules.signal, late, async (signal) => {
        response = await exchange(send, url, init, rules, signal);
        return readBody(response, rules.limit, signal);
      });
      return { ms: ms(), response, body };
    } catch (error) {
      const timedOut = error === lateError && { timedOut: true };
      return { ms: ms(), response, error: rootMessageOf(error), ...timedOut };
    }
  };
