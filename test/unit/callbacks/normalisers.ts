/** What an HTTP client makes of a URL before it sends it; it throws where the client refuses it. */
export type Normaliser = (url: string) => string;

const hex = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;

/** Every byte but those of some characters as an escape. */
const quoted = (text: string, safe: RegExp): string =>
  [...new TextEncoder().encode(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return byte < 128 && safe.test(character) ? character : hex(byte);
    })
    .join("");

/** What comes before the path, the path, and the query with its question mark. */
const parts = (url: string): readonly [start: string, path: string, query: string] => {
  const [, start = "", path = "", query = ""] =
    /^(\w+:\/\/[^/?#]*)([^?#]*)(\?[^#]*)?/.exec(url) ?? [];
  return [start, path, query];
};

/** RFC 3986, 5.2.4. */
const withoutDots = (path: string): string => {
  const out: string[] = [];
  const segments = path.split("/").slice(1);
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment === "..") out.pop();
    else if (segment !== ".") out.push(segment);
    if (isLast && (segment === "." || segment === "..")) out.push("");
  });
  return `/${out.join("/")}`;
};

/** The URL standard: browsers, Node, Deno, Bun, Workers, curl in parts. */
export const whatwg: Normaliser = (url) => new URL(url).href;

/**
 * Python's `requests`: `urllib3` first (escapes in upper case, what a URI can't hold escaped, no dot
 * segments), then `requote_uri`, which undoes the escapes of unreserved characters.
 */
export const requests: Normaliser = (url) => {
  const [start, path, query] = parts(url);
  const component = (text: string, allowed: RegExp): string => {
    const upper = text.replace(/%[\da-f]{2}/gi, (one) => one.toUpperCase());
    const isEncoded =
      (upper.match(/%[\dA-F]{2}/g) ?? []).length === (upper.match(/%/g) ?? []).length;
    return quoted(upper, isEncoded ? new RegExp(`${allowed.source}|%`) : allowed);
  };
  const pathSafe = /[\w.~!$&'()*+,;=:@/-]/;
  const querySafe = /[\w.~!$&'()*+,;=:@/?-]/;
  const uri = start + component(withoutDots(path), pathSafe) + component(query, querySafe);
  const always = /[\w.~!#$&'()*+,/:;=?@[\]-]/;
  if (/%(?=[\da-z]{2})(?![\da-f]{2})/i.test(uri)) return quoted(uri, always);
  const unquoted = uri.replace(/%[\da-f]{2}/gi, (one) => {
    const character = String.fromCharCode(Number.parseInt(one.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : one;
  });
  return quoted(unquoted, new RegExp(`${always.source}|%`));
};

/** Go's `net/url`: the path is kept as it was where that is a valid spelling of it, else escaped anew. */
export const go: Normaliser = (url) => {
  const [start, path, query] = parts(url);
  if (/%(?![\da-f]{2})/i.test(path)) throw new Error("invalid URL escape");
  if ([...url].some((one) => one < " " || one === "\x7f"))
    throw new Error("invalid control character in URL");
  const bytes = [...new TextEncoder().encode(path)];
  const decoded: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte !== 0x25) decoded.push(byte);
    else {
      decoded.push(Number.parseInt(String.fromCharCode(...bytes.slice(at + 1, at + 3)), 16));
      at += 2;
    }
  }
  const escaped = decoded
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(character) ? character : hex(byte);
    })
    .join("");
  const isValid = /^[A-Za-z0-9\-_.~!$&'()*+,/:;=@[\]%]*$/.test(path);
  return start + (isValid ? path : escaped) + query;
};

/** Escapes in lower case: what Java's and .NET's encoders, and some proxies, write. */
export const lowerCase: Normaliser = (url) =>
  url.replace(/%[\dA-F]{2}/g, (one) => one.toLowerCase());

/** Escapes for what RFC 2396 called unreserved, as Java's and PHP's encoders write them. */
export const zealous: Normaliser = (url) => {
  const [start, path, query] = parts(url);
  return start + (path + query).replace(/[~!'()*]/g, (one) => hex(one.charCodeAt(0)));
};

/** Escapes only where there must be one: the opposite. */
export const lenient: Normaliser = (url) =>
  url.replace(/%(2[1789A]|7E|2D|2E|5F|3\d|[46][1-9A-F]|[57][\dA])/gi, (one) =>
    decodeURIComponent(one),
  );
