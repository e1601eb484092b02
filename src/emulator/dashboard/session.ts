import { isSame, randomText } from "../../server/account.ts";

/** The name has the port, as browsers send a host's cookies to all its ports. */
const cookieName = (url: URL): string => `outdial_${url.port || url.protocol.slice(0, -1)}`;

/** The cookie of a page in a request. */
export const cookieIn = ({ headers, url }: Request): string | undefined => {
  const name = `${cookieName(new URL(url))}=`;
  const pair = headers
    .get("cookie")
    ?.split(/; */)
    .find((each) => each.startsWith(name));
  return pair?.slice(name.length);
};

/** The `Set-Cookie` header of a page. */
export const setCookie = (url: URL, value: string): string => {
  const secure = url.protocol === "https:" ? "; Secure" : "";
  return `${cookieName(url)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`;
};

/** Signs browsers in: first by the token in the link, then by a cookie. */
export class Session {
  readonly token: string;
  readonly #secret: string = randomText();

  /** @param token - the token in the link */
  constructor(token: string = randomText()) {
    this.token = token;
  }

  /** Whether a request has the cookie. */
  isSignedIn(request: Request): boolean {
    const cookie = cookieIn(request);
    return cookie !== undefined && isSame(cookie, this.#secret);
  }

  accepts(token: string): boolean {
    return isSame(token, this.token);
  }

  /** The `Set-Cookie` header that signs a browser in. Its value is not the token. */
  cookie(url: URL): string {
    return setCookie(url, this.#secret);
  }
}
