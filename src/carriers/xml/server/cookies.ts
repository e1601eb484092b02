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
