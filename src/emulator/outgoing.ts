import { withDeadline } from "../request/deadline.ts";
import { routeOf } from "../rules/url.ts";
import { type Beginning, readBeginning } from "./api/body.ts";
import { rootOf } from "./words.ts";

/** How the emulator's own requests are made. */
export interface Rules {
  /** How many bytes of the answer are wanted. */
  readonly largest: number;
  /** Which redirects are followed. */
  readonly redirects: "none" | "origin" | "any";
  /** Whether plain http on loopback is allowed. */
  readonly local: boolean;
  /** Gives up early. */
  readonly signal: AbortSignal;
}

/** What came of a request. */
export interface Outcome {
  /** Milliseconds on the wall. */
  readonly ms: number;
  /** The head of the answer, if one came. */
  readonly response?: Response | undefined;
  /** The beginning of its body, if it came. */
  readonly body?: Beginning | undefined;
  /** What went wrong, if it did. */
  readonly error?: string;
}

/** Makes a request of the emulator's own. It never throws. */
export type Ask = (url: string, init: RequestInit, rules: Rules) => Promise<Outcome>;

/** Makes one request, like `fetch`. */
export type Send = (
  request: Request,
  init: { readonly signal: AbortSignal },
) => Response | Promise<Response>;

/** Whether it is an answer, of whatever make: an application in the same process may give anything. */
const isResponse = (given: unknown): boolean => {
  const { status, headers } = Object(given);
  return typeof status === "number" && typeof Object(headers).get === "function";
};

/** Whether the emulator may go there: everywhere by https, and by http to its own machine. */
const isAllowed = (url: string, local: boolean): boolean => {
  const route = routeOf(url);
  return route === "https" || (local && route === "loopback");
};

/** Where a redirect leads, when its rule lets it be followed. */
const followed = (url: string, to: string, { redirects, local }: Rules): string => {
  const target = new URL(to, url);
  if (redirects === "origin" && target.origin !== new URL(url).origin) {
    throw new TypeError("redirects to another origin");
  }
  if (!isAllowed(target.href, local)) throw new TypeError("redirects to where it must not");
  return target.href;
};

const mostRedirects = 5;

const exchange = async (
  send: Send,
  url: string,
  init: RequestInit,
  rules: Rules,
  signal: AbortSignal,
): Promise<Response> => {
  let address = url;
  let how = init;
  for (let hops = 0; hops <= mostRedirects; hops++) {
    // The signal apart: a `Request` that follows one costs twice as much to make.
    const response = await send(new Request(address, { ...how, redirect: "manual" }), { signal });
    if (!isResponse(response)) throw new TypeError("gave no Response");
    const { status, headers, body, type } = response;
    if (rules.redirects === "none") return response;
    if (type === "opaqueredirect") throw new TypeError("redirects");
    const location = status >= 300 && status < 400 && headers.get("location");
    if (!location) return response;
    body?.cancel().catch(() => {});
    address = followed(address, location, rules);
    if (status < 307) how = {}; // As fetch does: the request becomes a GET.
  }
  throw new TypeError(`redirects more than ${mostRedirects} times`);
};

/**
 * @param budget - milliseconds on the wall for the whole of it
 */
export const asker =
  (send: Send, budget: number): Ask =>
  async (url, init, rules) => {
    const start = performance.now();
    const ms = () => Math.round(performance.now() - start);
    const late = () => new Error(`no answer within ${budget} ms`);
    let response: Response | undefined;
    try {
      const body = await withDeadline(budget, rules.signal, late, async (signal) => {
        response = await exchange(send, url, init, rules, signal);
        return readBeginning(response.body, rules.largest, signal);
      });
      return { ms: ms(), response, body };
    } catch (error) {
      return { ms: ms(), response, error: rootOf(error) };
    }
  };
