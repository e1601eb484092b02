import { custom, exactOptional, object } from "valibot";
import { check, fail, presence, withoutThrowing } from "../lib/check.ts";
import { base64url, decoded, utf8 } from "../lib/encoding.ts";
import { isMacOf, macOf } from "../lib/hmac.ts";
import { routeOfUrl } from "../lib/url.ts";
import { RefusedException } from "./errors.ts";

/** A secret, or several while one replaces another: the first signs, and every one is accepted. */
export type Secret = string | readonly string[];

/** A small JSON object in a signed URL. Whoever sees the URL can read it. */
export type Context = Readonly<Record<string, unknown>>;

/**
 * The secrets, or none when one of them is too short: whoever has a signed URL can try secrets on it
 * offline. This also catches the `undefined` of an environment variable that is not set.
 */
export const secretsOf = (secret: unknown): readonly string[] => {
  const all: unknown[] = [secret].flat();
  return all.every((one): one is string => typeof one === "string" && one.length > 15) ? all : [];
};

/** The rule that `secretsOf` checks. */
export const secretRule = "must be 16 characters or more, or a list of such";

/** The canonical spelling of one character or escape. */
const canonicalCharacter = (one: string): string => {
  const code = one.length > 1 ? Number(`0x${one.slice(1)}`) : one.charCodeAt(0);
  const character = String.fromCharCode(code);
  return /[\w.~!()*-]/.test(character)
    ? character
    : `%${code < 16 ? 0 : ""}${code.toString(16)}`.toUpperCase();
};

/**
 * The path and the query of a URL in one spelling, however clients, proxies and servers write it: as the
 * URL standard parses it (ASCII, without dot segments), with escapes in upper case, none for unreserved
 * characters (RFC 3986 and before it RFC 2396), and one for each character that a URI can't hold, a bare
 * `%` too. What the RFCs call different stays different, such as `%2F` and `/`, or `+` and `%20`.
 */
export const canonical = ({ pathname, search }: URL): string =>
  (pathname + search).replace(/%[\da-f]{2}|[^\w.~!()*$&+,;=:@/?-]/gi, canonicalCharacter);

/** The options of `signUrl`. */
export interface SignOptions {
  /**
   * The key of the signature: at least 16 characters, made at random. A list while one secret replaces
   * another: the first signs.
   */
  readonly secret: Secret;
  /**
   * A JSON object of at most 1 KiB, such as the id of an order, that the URL carries. It is signed, not
   * encrypted: the service can read it.
   *
   * @defaultValue none, which is read as `{}`
   */
  readonly context?: Context | undefined;
  /**
   * Seconds until the URL is refused. Leave room for the call and for late deliveries: the steps of a flow end with the
   * `flow_url` that was signed.
   *
   * @defaultValue 86 400, a day
   */
  readonly expiresIn?: number | undefined;
}

/** A URL with two slashes, and without white space that the parser would drop. */
const urlShape = /^\w+:\/\/[^\s/\\@][^\t\n\r]*$/;

/**
 * Adds a token to a URL of yours, so that only those who got the URL from you can call it: an
 * HMAC-SHA256 over path, query, expiry and context, as the last parameter of the query, `outdial`.
 * For `status_callback_url`, `flow_url` and `ws_url`, with any service.
 *
 * The service may write the URL in another spelling: `%c3%a9` for `%C3%A9`, `%7E` for `~`, a resolved dot
 * segment, without a tab or a space at the end. The canonical spelling is signed and verified. The host
 * is not covered, since proxies and tunnels rewrite it. The path is: behind a proxy that rewrites it, pass
 * the URL that you signed as `publicUrl` to `receive`, `verifyUrl` or the handler. A parameter that is
 * added, removed or moved breaks the token.
 *
 * @param url - https or wss, http and ws on loopback only; at most 2 083 characters once signed
 * @param options - the secret, the context and the expiry
 * @returns the signed URL, in its canonical spelling
 * @throws {BadParametersException} when a rule is broken
 *
 * @example Tie a notification to an order
 * ```ts
 * import { receive, signUrl } from "outdial/callbacks";
 *
 * const secret = crypto.randomUUID(); // In production: from the environment, the same in every process.
 * const status_callback_url = await signUrl("https://app.test/status", {
 *   secret,
 *   context: { order: 17 },
 * });
 *
 * // Later the service calls that URL:
 * const body = JSON.stringify({ type: "call.ringing", call_id: "cs_1", data: {} });
 * const request = new Request(status_callback_url, { method: "POST", body });
 * const { event, context } = await receive(request, { secret });
 * console.log(event.type, context.order); // call.ringing 17
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc2104 for HMAC, and https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2
 * for spellings of one URL
 */
export const signUrl = (url: string, options: SignOptions): Promise<string> =>
  signUrlAt(url, options, Date.now());

/**
 * Signs a URL as `signUrl` does.
 *
 * @param now - when it is signed, in milliseconds since 1970
 */
export const signUrlAt = async (
  url: string,
  options: SignOptions,
  now: number,
): Promise<string> => {
  const given: Partial<SignOptions> = withoutThrowing(() => ({ ...options })) ?? {};
  const { secret, context = {}, expiresIn = 86_400 } = given;
  const [first] = withoutThrowing(() => secretsOf(secret)) ?? [];
  if (!first) return fail("secret", secretRule);
  if (!(Number.isSafeInteger(expiresIn) && expiresIn > 0))
    fail("expiresIn", "must be whole seconds");
  const json = withoutThrowing(() => JSON.stringify(context)) ?? "";
  const bytes = utf8(json);
  if (json[0] !== "{" || bytes.length > 1024)
    fail("context", "must be a JSON object of at most 1 KiB");
  const parsed = withoutThrowing(() => (urlShape.test(url) ? new URL(url) : undefined));
  if (parsed && routeOfUrl(parsed)) {
    const { origin, search, hash } = parsed;
    const expires = Math.ceil(now / 1000) + expiresIn;
    const covered = `${canonical(parsed)}${search ? "&" : "?"}outdial=${expires}.${base64url(bytes)}.`;
    const signed = origin + covered + base64url(await macOf(first, utf8(covered))) + hash;
    if (signed.length <= 2083) return signed;
  }
  return fail("url", "must be https or wss (http or ws on loopback), at most 2083 characters");
};

/** What follows the host: of a whole URL, or of one that starts with its path, as Node's `request.url`. */
const afterHost = /^(?:\w+:\/\/[^/?#\\]*)?(\/.*)$/;

/**
 * What is signed, with expiry and context, and the MAC. It starts greedy, to find the last parameter.
 * The last character of 32 bytes in base64 has two unused bits, which a decoder ignores and anybody could
 * change: only those that an encoder writes are accepted.
 */
const tokenShape = /^(\/.*[?&]outdial=(\d+)\.([\w-]+)\.)([\w-]{42}[AEIMQUYcgkosw048])$/;

/** Whether a value is an absolute URL. */
export const isPublicUrl = (value: unknown): value is string =>
  typeof value === "string" && /^\w+:\/\/[^\s/\\]/.test(value) && URL.canParse(value);

/** The rule that `isPublicUrl` checks. */
export const publicUrlRule = "must be an absolute URL";

/** The path and query of the signed URL, in the canonical spelling. */
export const pathIn = (url: string, publicUrl: string | undefined): string => {
  const [, path] = afterHost.exec(url) ?? [];
  if (!path) return "";
  const came = new URL(`http://h${path}`);
  if (publicUrl) came.pathname = new URL(publicUrl).pathname;
  return canonical(came);
};

/** Drops `__proto__` while parsing: a copy of the context must not get a prototype from it. */
export const withoutPrototype = (name: string, value: unknown): unknown =>
  name === "__proto__" ? undefined : value;

/** A token whose MAC and expiry were verified. */
export interface Token {
  /** What it carries: a context as JSON, or a sealed state. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Path, query and expiry, which the MAC covers too. */
  readonly bound: string;
  /** When it expires, in Unix seconds. */
  readonly expires: number;
}

/**
 * The token of a URL.
 *
 * @throws {RefusedException} `no_token`, `wrong_token` or `expired_token`
 */
export const tokenOf = async (
  url: string,
  secrets: readonly string[],
  publicUrl: string | undefined,
): Promise<Token> => {
  const [, covered, expires, context, mac] = tokenShape.exec(pathIn(url, publicUrl)) ?? [];
  if (!covered || !context || !mac) throw new RefusedException("no_token");
  if (!(await isMacOf(secrets, decoded(mac), utf8(covered)))) {
    throw new RefusedException("wrong_token");
  }
  if (Number(expires) * 1000 <= Date.now()) throw new RefusedException("expired_token");
  const bound = covered.slice(0, -context.length - 1);
  return { bytes: decoded(context), bound, expires: Number(expires) };
};

/**
 * The context in a token; `{}` where none was verified.
 *
 * @throws {RefusedException} for a token of another kind
 */
export const contextIn = (token: Token | undefined): Context => {
  if (!token) return {};
  try {
    return JSON.parse(new TextDecoder().decode(token.bytes), withoutPrototype);
  } catch {
    throw new RefusedException("wrong_token");
  }
};

/** `verifyUrl`, with checked options. */
export const contextOf = async (...of: Parameters<typeof tokenOf>): Promise<Context> =>
  contextIn(await tokenOf(...of));

const VerifyOptions = object(
  {
    secret: custom<Secret>((value) => !!secretsOf(value).length, secretRule),
    publicUrl: exactOptional(custom<string>(isPublicUrl, publicUrlRule)),
  },
  presence,
);

/**
 * Verifies the token that `signUrl` added to a URL, and returns its context. `receive` and the handlers
 * do this; use it for other requests than a POST, such as the WebSocket upgrade at `ws_url`.
 *
 * @param url - of the request: absolute, or from the path on, as Node's `request.url`
 * @param options - the secret, or a list of those to accept; and the `publicUrl` that was signed, where a
 * proxy rewrites the path on the way
 * @returns the context, `{}` when none was signed
 * @throws {RefusedException} `no_token`, `wrong_token` or `expired_token`
 * @throws {BadParametersException} when an option breaks its rule
 *
 * @example Let only the service open a media socket
 * ```ts
 * import { signUrl, verifyUrl } from "outdial/callbacks";
 *
 * const secret = crypto.randomUUID(); // In production: from the environment, the same in every process.
 * const ws_url = await signUrl("wss://app.test/media", { secret, context: { agent: "echo" } });
 *
 * const { agent } = await verifyUrl(ws_url, { secret });
 * console.log(agent); // echo
 * ```
 */
export const verifyUrl = async (
  url: string,
  options: { readonly secret: Secret; readonly publicUrl?: string },
): Promise<Context> => {
  const { secret, publicUrl } = check(VerifyOptions, () => options, "options");
  return contextOf(url, secretsOf(secret), publicUrl);
};
