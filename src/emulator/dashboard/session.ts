import { isSame, randomText } from "../api/account.ts";

/** Cookies go to every port of a host, so the name says which it is from. */
const cookieOf = (url: URL): string => `outdial_${url.port || url.protocol.slice(0, -1)}`;

const cookieIn = (header: string | null, name: string): string | undefined =>
  header
    ?.split(/; */)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

/** Who may see the dashboard: whoever came by the link, and their browser from then on. */
export class Session {
  readonly token: string;
  readonly #secret: string = randomText();

  /** @param token - what the link holds */
  constructor(token: string = randomText()) {
    this.token = token;
  }

  /** Whether a request comes from a browser that is signed in. */
  holds({ headers, url }: Request): boolean {
    const cookie = cookieIn(headers.get("cookie"), cookieOf(new URL(url)));
    return cookie !== undefined && isSame(cookie, this.#secret);
  }

  /** Whether a link's token is this one. */
  accepts(token: string): boolean {
    return isSame(token, this.token);
  }

  /** The cookie that signs a browser in. The token is not in it: it can't be read from there. */
  cookie(url: URL): string {
    const secure = url.protocol === "https:" ? "; Secure" : "";
    return `${cookieOf(url)}=${this.#secret}; Path=/; HttpOnly; SameSite=Strict${secure}`;
  }
}
