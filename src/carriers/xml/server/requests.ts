import type { Delivery } from "../../../server/call.ts";
import {
  isAllowed,
  isWithin,
  type Reach,
  type Requester,
  type RequestResult,
} from "../../../server/outgoing.ts";

/** A cookie that an application has set. */
interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/** The most cookies of one origin, and the most characters of one. */
const maxCookies = 50;
const maxLength = 4_096;

/** The attributes of a `Set-Cookie` header, by their names in small letters. */
const attributesOf = (parts: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    parts.map((part) => {
      const [name = "", ...value] = part.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim()];
    }),
  );

/** The path of a cookie without one: the folder of the request. */
const folderOf = (pathname: string): string =>
  pathname.slice(0, Math.max(1, pathname.lastIndexOf("/")));

const isExpired = (attributes: ReadonlyMap<string, string>): boolean => {
  const age = attributes.get("max-age");
  if (age !== undefined) return Number(age) <= 0;
  return Date.parse(attributes.get("expires") ?? "") <= Date.now();
};

const isSent = ({ path }: Cookie, pathname: string): boolean =>
  pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`);

/** The headers `Set-Cookie` of a response: an application in the same process may return headers that can't list them. */
const setCookiesIn = (headers: Headers): readonly string[] => {
  if ("getSetCookie" in headers) return headers.getSetCookie();
  return [];
};

/** The cookies of one call, by the origin that set them: an origin gets its own only. */
export class CookieJar {
  readonly #byOrigin = new Map<string, readonly Cookie[]>();

  /** Keeps and removes what a response says. */
  store(url: string, headers: Headers): void {
    const { origin, pathname } = new URL(url);
    for (const header of setCookiesIn(headers)) {
      const [pair = "", ...parts] = header.slice(0, maxLength).split(";");
      const [name = "", ...value] = pair.split("=");
      const attributes = attributesOf(parts);
      const given = attributes.get("path");
      const path = given?.startsWith("/") ? given : folderOf(pathname);
      const cookie = { name: name.trim(), value: value.join("=").trim(), path };
      const others = (this.#byOrigin.get(origin) ?? []).filter(
        (one) => one.name !== cookie.name || one.path !== path,
      );
      const isKept = cookie.name !== "" && !isExpired(attributes);
      this.#byOrigin.set(origin, isKept ? [...others, cookie].slice(-maxCookies) : others);
    }
  }

  /** The header `Cookie` of a request; `undefined` without a cookie. */
  header(url: string): string | undefined {
    const { origin, pathname } = new URL(url);
    const sent = (this.#byOrigin.get(origin) ?? []).filter((cookie) => isSent(cookie, pathname));
    return sent.map(({ name, value }) => `${name}=${value}`).join("; ") || undefined;
  }
}

/** Names and values of a form, in the order in which they are sent. */
export type Fields = Readonly<Record<string, string>>;

/** How the platform is asked to request a URL: `POST` with a form, or `GET` with the same in the query. */
export type Method = "GET" | "POST";

/** A request to the application, before it is signed. */
export interface FormRequest {
  readonly url: string;
  readonly method: Method;
  /** The form in the body; empty for a `GET`. */
  readonly fields: Fields;
  /** Empty for a `GET`. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes a request; the fragment of the URL, and user and password, are not sent with it. */
export const formRequest = (given: string, method: Method, fields: Fields): FormRequest => {
  const url = new URL(given);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.hash = url.username = url.password = "";
  const isPost = method === "POST";
  for (const [name, value] of Object.entries(isPost ? {} : fields)) {
    url.searchParams.append(name, value);
  }
  return {
    url: url.href,
    method,
    fields: isPost ? fields : {},
    body: isPost ? `${new URLSearchParams(fields)}` : "",
    headers: {
      ...(credentials !== ":" && { Authorization: `Basic ${btoa(credentials)}` }),
      ...(isPost && { "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8" }),
    },
  };
};

/** Headers that are sent. */
type SentHeaders = Readonly<Record<string, string>>;

/** The requests of a carrier to applications. */
export interface RequestCarrier {
  /** The headers that sign a request. */
  readonly sign: (
    request: Pick<FormRequest, "url" | "fields" | "body">,
  ) => SentHeaders | Promise<SentHeaders>;
  /** Whether requests for documents have the cookies that their origin has set in the call. */
  readonly keepsCookies: boolean;
  /** How many redirects a request for a document follows. */
  readonly maxRedirects: number;
  /**
   * Whether a request for a document is repeated at once.
   *
   * @param url - the URL with its fragment
   * @param count - how many attempts there were
   */
  readonly repeatsRequest: (
    url: string,
    count: number,
    delivery: Pick<Delivery, "status" | "timedOut">,
  ) => boolean;
}

/** The largest document, in bytes. */
const maxDocument = 64 * 1024;

/** What requests for documents need. */
export interface RequestParts {
  readonly request: Requester;
  /** The cookies of the call, where the carrier keeps them. */
  readonly cookies: CookieJar | undefined;
  readonly carrier: RequestCarrier;
  readonly reach: Reach;
  readonly signal: AbortSignal;
}

/** The response to a request for a document. */
export interface Fetched extends RequestResult {
  /** The URL that responded: relative ones in the document start there. */
  readonly url: string;
  /** The cookies that were sent to this URL. */
  readonly cookie?: string | undefined;
}

/** Follows redirects within the origin: the next request is a signed GET without the form. */
const fetchOnce = async (
  given: string,
  method: Method,
  fields: Fields,
  { request, cookies, carrier, reach, signal }: RequestParts,
): Promise<Fetched> => {
  const { maxRedirects, sign } = carrier;
  let sent = formRequest(given, method, fields);
  let total = 0;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const { url, body } = sent;
    // Its length was checked where it was given; a GET has the fields in it, too.
    if (!isAllowed(url, reach, url.length))
      return { url, ms: total, error: "leads to where it must not" };
    const cookie = cookies?.header(url);
    const headers = {
      ...sent.headers,
      ...(cookie !== undefined && { Cookie: cookie }),
      ...(await sign(sent)),
    };
    const init = sent.method === "GET" ? { headers } : { method: "POST", headers, body };
    const rules = { limit: maxDocument, redirects: "none", reach, signal } as const;
    const result = await request(url, init, rules);
    total += result.ms;
    const { status = 0, headers: received } = result.response ?? {};
    const location = status >= 300 && status < 400 && received?.get("location");
    if (received) cookies?.store(url, received);
    if (!location) return { ...result, url, cookie, ms: total };
    if (!URL.canParse(location, url)) return { url, ms: total, error: "redirects to no URL" };
    const target = new URL(location, url);
    // The signature of the account is for the origin that the flow names.
    if (!isWithin(new URL(url), target)) {
      return { url, ms: total, error: "redirects to another origin, which is not followed here" };
    }
    const isKept = sent.method === "POST" && status >= 307;
    sent = formRequest(target.href, ...kept(isKept, fields));
  }
  return { url: sent.url, ms: total, error: `redirects more than ${maxRedirects} times` };
};

const kept = (isKept: boolean, fields: Fields): [Method, Fields] =>
  isKept ? ["POST", fields] : ["GET", {}];

/** Requests a document, again where the carrier repeats it. It never throws. */
export const fetchDocument = async (
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
    if (isDone || parts.signal.aborted) return fetched;
    if (!parts.carrier.repeatsRequest(url, count, delivery)) return fetched;
  }
};
