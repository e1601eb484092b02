import { base64 } from "../../bytes/base64.ts";
import { BadParametersException } from "../../errors.ts";
import { bytesOf, type Context, hmacKey, type Secret, secretRule, secretsOf } from "./token.ts";

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

const base64url = (bytes: Uint8Array): string =>
  base64(bytes).replace(/[+/=]/g, (one) => ({ "+": "-", "/": "_" })[one] ?? "");

/** Encodes what some HTTP clients send as it is, and others, and some URL parsers, don't. */
const plain = (text: string): string => text.replace(/[[\]\\^`{|}]/g, encodeURIComponent);

const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return;
  }
};

/**
 * Adds a token to a URL of yours, so that only the service that you give it to can call it: an
 * HMAC-SHA256 over path, query, expiry and context, as the last parameter of the query, `outdial`.
 * The host is not covered, since proxies and tunnels rewrite it. Good for `status_callback_url`,
 * `flow_url` and `ws_url`, with any service: it only has to come to the URL that it was given.
 *
 * @param url - https or wss, http and ws on loopback; at most 2 083 characters once signed
 * @param options - the secret, and what the URL shall bring back
 * @returns the signed URL
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
 * @see contract.md, "Status notifications"; RFC 2104 (HMAC)
 */
export const signUrl = async (
  url: string,
  { secret, context = {}, expiresIn = 86_400 }: SignOptions,
): Promise<string> => {
  const refuse = (param: string, message: string): never => {
    throw new BadParametersException([{ param, message }]);
  };
  const [first] = secretsOf(secret);
  if (!first) return refuse("secret", secretRule);
  if (!(Number.isSafeInteger(expiresIn) && expiresIn > 0))
    refuse("expiresIn", "must be whole seconds");
  const json = attempt(() => JSON.stringify(context)) ?? "";
  const bytes = bytesOf(json);
  if (json[0] !== "{" || bytes.length > 1024)
    refuse("context", "must be a JSON object of at most 1 KiB");
  const signed = attempt(() => new URL(url));
  if (signed) {
    const expires = Math.ceil(Date.now() / 1000) + expiresIn;
    signed.pathname = plain(signed.pathname);
    signed.search = plain(signed.search);
    signed.search += `${signed.search ? "&" : "?"}outdial=${expires}.${base64url(bytes)}.`;
    const key = await hmacKey(bytesOf(first), "sign");
    const mac = await crypto.subtle.sign("HMAC", key, bytesOf(signed.pathname + signed.search));
    signed.search += base64url(new Uint8Array(mac));
    if (signed.href.length <= 2083) return signed.href;
  }
  return refuse("url", "must be an absolute URL of at most 2083 characters, signed");
};
