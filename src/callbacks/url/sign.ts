import { base64url } from "../../bytes/base64.ts";
import { macOf } from "../../bytes/hmac.ts";
import { utf8 } from "../../bytes/utf8.ts";
import { quietly } from "../../rules/quietly.ts";
import { refuse } from "../../rules/refuse.ts";
import { routeOfUrl } from "../../rules/url.ts";
import { canonical } from "./canonical.ts";
import { type Context, type Secret, secretRule, secretsOf } from "./token.ts";

/** What `signUrl` may be told. */
export interface SignOptions {
  /**
   * Only who has it can sign: at least 16 characters, made at random. A list while one secret replaces
   * another: the first signs.
   */
  readonly secret: Secret;
  /**
   * What the URL shall bring back: a JSON object of at most 1 KiB, such as the id of an order. It is
   * signed, not encrypted: the service can read it.
   *
   * @defaultValue none, which comes back as `{}`
   */
  readonly context?: Context | undefined;
  /**
   * Seconds until the URL is refused. Leave room for the call and for late deliveries.
   *
   * @defaultValue 86 400, a day
   */
  readonly expiresIn?: number | undefined;
}

/** A URL with its two slashes, and without the white space that the parser would drop. */
const shape = /^\w+:\/\/[^\s/\\][^\t\n\r]*$/;

/**
 * Adds a token to a URL of yours, so that only the service that you give it to can call it: an
 * HMAC-SHA256 over path, query, expiry and context, as the last parameter of the query, `outdial`.
 * Good for `status_callback_url`, `flow_url` and `ws_url`, with any service: it only has to come to the
 * URL that it was given.
 *
 * It may spell that URL in its own way: `%c3%a9` for `%C3%A9`, `%7E` for `~`, a dot segment resolved, and
 * with what every URL parser drops, such as a tab, or a space at the end. One spelling is signed and
 * checked. The host is not covered, since proxies and tunnels rewrite it. The path is: behind a proxy that
 * rewrites it, tell `receive`, `verifyUrl` or the handler the `publicUrl` that you have signed. A parameter
 * that is added, removed or moved breaks the token.
 *
 * @param url - https or wss, http and ws on loopback only; at most 2 083 characters once signed
 * @param options - the secret, and what the URL shall bring back
 * @returns the signed URL, in the one spelling that clients leave alone
 * @throws {BadParametersException} (`placed: "no"`) when a rule is broken
 *
 * @example Tie a notification to an order
 * ```ts
 * import { receive, signUrl } from "outdial/callbacks";
 *
 * const secret = "a secret that was made at random";
 * const status_callback_url = await signUrl("https://app.test/status", {
 *   secret,
 *   context: { order: 17 },
 * });
 *
 * // Later the service comes to that URL:
 * const body = JSON.stringify({ type: "call.ringing", call_id: "cs_1", data: {} });
 * const request = new Request(status_callback_url, { method: "POST", body });
 * const { event, context } = await receive(request, { secret });
 * console.log(event.type, context.order); // call.ringing 17
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc2104 for HMAC, and https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2
 * for spellings of one URL
 */
export const signUrl = async (url: string, options: SignOptions): Promise<string> => {
  const given: Partial<SignOptions> = quietly(() => ({ ...options })) ?? {};
  const { secret, context = {}, expiresIn = 86_400 } = given;
  const [first] = quietly(() => secretsOf(secret)) ?? [];
  if (!first) return refuse("secret", secretRule);
  if (!(Number.isSafeInteger(expiresIn) && expiresIn > 0))
    refuse("expiresIn", "must be whole seconds");
  const json = quietly(() => JSON.stringify(context)) ?? "";
  const bytes = utf8(json);
  if (json[0] !== "{" || bytes.length > 1024)
    refuse("context", "must be a JSON object of at most 1 KiB");
  const parsed = quietly(() => (shape.test(url) ? new URL(url) : undefined));
  if (parsed && routeOfUrl(parsed)) {
    const { origin, search, hash } = parsed;
    const expires = Math.ceil(Date.now() / 1000) + expiresIn;
    const covered = `${canonical(parsed)}${search ? "&" : "?"}outdial=${expires}.${base64url(bytes)}.`;
    const signed = origin + covered + base64url(await macOf(first, utf8(covered))) + hash;
    if (signed.length <= 2083) return signed;
  }
  return refuse("url", "must be https or wss (http or ws on loopback), at most 2083 characters");
};
