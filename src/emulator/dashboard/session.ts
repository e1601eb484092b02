import { isSame, randomText } from "../../server/account.ts";

/** The name has the port, as browsers send a host's cookies to all its ports. */
const cookieName = (url: URL): string => `outdial_${url.port || url.protocol.slice(0, -1)}`;

const cookieIn = (header: string | null, name: string): string | undefined =>
  header
    ?.split(/; */)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/** Signs browsers in: first by the token in the link, then by a cookie. */
export class Session {
  readonly token: string;
  readonly #secret: string = randomText();

  /** @param token - the token in the link */
  constructor(token: string = randomText()) {
    this.token = token;
  }

  /** Whether a request has the cookie. */
  isSignedIn({ headers, url }: Request): boolean {
    const cookie = cookieIn(headers.get("cookie"), cookieName(new URL(url)));
    return cookie !== undefined && isSame(cookie, this.#secret);
  }

  accepts(token: string): boolean {
    return isSame(token, this.token);
  }

  /** The `Set-Cookie` header that signs a browser in. Its value is not the token. */
  cookie(url: URL): string {
    const secure = url.protocol === "https:" ? "; Secure" : "";
    return `${cookieName(url)}=${this.#secret}; Path=/; HttpOnly; SameSite=Strict${secure}`;
  }
}
