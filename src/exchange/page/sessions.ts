import { createHash, timingSafeEqual } from "node:crypto";
import { cookieIn, setCookie } from "../../emulator/dashboard/session.ts";
import { randomText } from "../../server/account.ts";

/** How long the token of a start signs in, and a browser stays signed in, in milliseconds. */
const tokenLifetime = 24 * 3_600_000;
const sessionLifetime = 12 * 3_600_000;

/** How many browsers are signed in at once: the oldest is signed out. */
const maxSessions = 100;

/** How many wrong tokens and passwords are compared in a minute. */
const maxRefused = 10;
const minute = 60_000;

/** What came of an attempt to sign in. */
export type SignIn = "accepted" | "refused" | "limited";

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The operator's browsers: they sign in with the token of this start, or with the operator's password. */
export class Sessions {
  /** Signs a browser in, for a day and until `revoke`. */
  readonly token: string = randomText();
  readonly #password: Buffer | undefined;
  readonly #now: () => number;
  #tokenUntil: number;
  /** The digests of cookies, and until when they are valid; the oldest first. */
  readonly #sessions = new Map<string, number>();
  /** When the latest were refused. */
  #refused: number[] = [];

  /**
   * @param password - the operator's; without one only the token signs in
   * @param now - milliseconds since 1970
   */
  constructor(password: string | undefined, now: () => number) {
    this.#password = password === undefined ? undefined : digestOf(password);
    this.#now = now;
    this.#tokenUntil = now() + tokenLifetime;
  }

  /** Whether a token or a password signs in. */
  check(secret: string): SignIn {
    const now = this.#now();
    this.#refused = this.#refused.filter((at) => at > now - minute);
    if (this.#refused.length >= maxRefused) return "limited";
    const given = digestOf(secret);
    const isToken = timingSafeEqual(given, digestOf(this.token)) && now < this.#tokenUntil;
    const isPassword = this.#password !== undefined && timingSafeEqual(given, this.#password);
    if (isToken || isPassword) return "accepted";
    this.#refused.push(now);
    return "refused";
  }

  /** Signs a browser in: the value of `Set-Cookie`. */
  begin(url: URL): string {
    const secret = randomText();
    this.#sessions.set(this.#keyOf(secret), this.#now() + sessionLifetime);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > maxSessions && oldest !== undefined) this.#sessions.delete(oldest);
    return setCookie(url, secret);
  }

  /** Whether a request is of a browser that is signed in. */
  has(request: Request): boolean {
    const cookie = cookieIn(request);
    const until = cookie === undefined ? undefined : this.#sessions.get(this.#keyOf(cookie));
    return until !== undefined && this.#now() < until;
  }

  /** Signs all browsers out, and makes the token void. */
  revoke(): void {
    this.#sessions.clear();
    this.#tokenUntil = 0;
  }

  /** A digest, so that how long a look-up takes says nothing of the cookies. */
  #keyOf(cookie: string): string {
    return digestOf(cookie).toString("base64");
  }
}
