import type { Delivery } from "../call.ts";
import { isAllowed, type Requester, type RequestResult } from "../outgoing.ts";
import { type Fields, signatureOf } from "./signature.ts";

/** How the platform is asked to request a URL: `POST` with a form, or `GET` with the same in the query. */
export type Method = "GET" | "POST";

/** A request as it is sent. */
export interface SignedRequest {
  readonly url: string;
  readonly method: Method;
  /** Empty for a `GET`. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes a signed request; the fragment of the URL, and user and password, are not sent with it. */
export const signedRequest = (
  token: string,
  given: string,
  method: Method,
  fields: Fields,
): SignedRequest => {
  const url = new URL(given);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.hash = url.username = url.password = "";
  if (method === "GET") {
    for (const [name, value] of Object.entries(fields)) url.searchParams.append(name, value);
  }
  const signed = method === "GET" ? {} : fields;
  return {
    url: url.href,
    method,
    body: method === "GET" ? "" : `${new URLSearchParams(fields)}`,
    headers: {
      ...(credentials !== ":" && { Authorization: `Basic ${btoa(credentials)}` }),
      ...(method === "POST" && {
        "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
      }),
      "X-Twilio-Signature": signatureOf(token, url.href, signed),
    },
  };
};

/** Which failures a request is repeated after, by the fragment of its URL, and how often. */
interface RetryPolicy {
  readonly attempts: number;
  readonly reasons: readonly string[];
}

/** By default a request is repeated once, and only where no connection was made. */
const policyOf = (url: string): RetryPolicy => {
  const settings = new URLSearchParams(new URL(url).hash.slice(1));
  const retries = Number(settings.get("rc") ?? 1);
  return {
    attempts: 1 + (Number.isInteger(retries) ? Math.min(Math.max(retries, 0), 5) : 1),
    reasons: (settings.get("rp") ?? "ct").split(","),
  };
};

const reasonOf = ({ status, timedOut }: Delivery): string => {
  if (status !== undefined) return `${Math.floor(status / 100)}xx`;
  return timedOut ? "rt" : "ct";
};

/**
 * Whether a request is repeated.
 *
 * @param url - the URL with its fragment
 * @param count - how many attempts there were
 */
export const isRepeated = (url: string, count: number, delivery: Delivery): boolean => {
  const { attempts, reasons } = policyOf(url);
  const reason = reasonOf(delivery);
  const isReason = reasons.includes(reason) || (reasons.includes("all") && reason !== "3xx");
  return count < attempts && isReason;
};

/** The largest TwiML document, in bytes. */
const maxDocument = 64 * 1024;

const maxRedirects = 10;

/** What requests for TwiML need. */
export interface RequestParts {
  readonly request: Requester;
  readonly token: string;
  /** Whether plain http on loopback is allowed. */
  readonly local: boolean;
  readonly signal: AbortSignal;
}

/** The response to a request for TwiML. */
export interface Fetched extends RequestResult {
  /** The URL that responded: relative ones in the document start there. */
  readonly url: string;
}

/** Follows redirects: the next request is a signed GET without the form. */
const fetchOnce = async (
  given: string,
  method: Method,
  fields: Fields,
  { request, token, local, signal }: RequestParts,
): Promise<Fetched> => {
  let sent = signedRequest(token, given, method, fields);
  let total = 0;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const { url, headers, body } = sent;
    if (!isAllowed(url, local)) return { url, ms: total, error: "leads to where it must not" };
    const init = sent.method === "GET" ? { headers } : { method: "POST", headers, body };
    const rules = { limit: maxDocument, redirects: "none", local, signal } as const;
    const result = await request(url, init, rules);
    total += result.ms;
    const { status = 0, headers: received } = result.response ?? {};
    const location = status >= 300 && status < 400 && received?.get("location");
    if (!location) return { ...result, url, ms: total };
    const isKept = sent.method === "POST" && status >= 307;
    sent = signedRequest(token, new URL(location, url).href, ...kept(isKept, fields));
  }
  return { url: sent.url, ms: total, error: `redirects more than ${maxRedirects} times` };
};

const kept = (isKept: boolean, fields: Fields): [Method, Fields] =>
  isKept ? ["POST", fields] : ["GET", {}];

/** Requests TwiML, again where the fragment of the URL asks for it. It never throws. */
export const fetchTwiml = async (
  url: string,
  method: Method,
  fields: Fields,
  parts: RequestParts,
): Promise<Fetched> => {
  for (let count = 1; ; count++) {
    const fetched = await fetchOnce(url, method, fields, parts);
    const { response, error, timedOut } = fetched;
    const isDone = response?.ok && error === undefined;
    const delivery = { status: error === undefined ? response?.status : undefined, timedOut };
    if (isDone || parts.signal.aborted || !isRepeated(url, count, delivery)) return fetched;
  }
};
