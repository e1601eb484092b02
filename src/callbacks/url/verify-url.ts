import { custom, exactOptional, object } from "valibot";
import { decoded } from "../../bytes/base64.ts";
import { isMacOf } from "../../bytes/hmac.ts";
import { utf8 } from "../../bytes/utf8.ts";
import { check, presence } from "../../rules/check.ts";
import { RefusedException } from "../refused.ts";
import { canonical } from "./canonical.ts";
import { type Context, type Secret, secretRule, secretsOf } from "./token.ts";

/** What comes after the host, which isn't covered: from the path on, as Node's `request.url`, or all of it. */
const afterHost = /^(?:\w+:\/\/[^/?#\\]*)?(\/.*)$/;

/**
 * What is covered, with its expiry and context, and the MAC. It starts greedy, to find the last
 * parameter. The last character of 32 bytes in base64 has two bits to spare, which a decoder ignores
 * and a forger could change: only what an encoder makes of them is let in.
 */
const shape = /^(\/.*[?&]outdial=(\d+)\.([\w-]+)\.)([\w-]{42}[AEIMQUYcgkosw048])$/;

/** Whether a value is an absolute URL, that may have been signed. */
export const isPublicUrl = (value: unknown): value is string =>
  typeof value === "string" && /^\w+:\/\/[^\s/\\]/.test(value) && URL.canParse(value);

export const publicUrlRule = "must be an absolute URL";

/** The path and query that the service was given, in the spelling that is signed. */
const given = (url: string, publicUrl: string | undefined): string => {
  const [, path] = afterHost.exec(url) ?? [];
  if (!path) return "";
  const came = new URL(`http://h${path}`);
  if (publicUrl) came.pathname = new URL(publicUrl).pathname;
  return canonical(came);
};

/** A copy of a context must not get its prototype out of it. */
const withoutPrototype = (name: string, value: unknown): unknown =>
  name === "__proto__" ? undefined : value;

/** `verifyUrl`, with options that are checked already. */
export const contextOf = async (
  url: string,
  secrets: readonly string[],
  publicUrl: string | undefined,
): Promise<Context> => {
  const [, covered, expires, context, mac] = shape.exec(given(url, publicUrl)) ?? [];
  if (!covered || !context || !mac) throw new RefusedException("no_token");
  if (!(await isMacOf(secrets, decoded(mac), utf8(covered)))) {
    throw new RefusedException("wrong_token");
  }
  if (Number(expires) * 1000 <= Date.now()) throw new RefusedException("expired_token");
  return JSON.parse(new TextDecoder().decode(decoded(context)), withoutPrototype);
};

const Options = /* @__PURE__ */ object(
  {
    secret: /* @__PURE__ */ custom<Secret>((value) => !!secretsOf(value).length, secretRule),
    publicUrl: /* @__PURE__ */ exactOptional(
      /* @__PURE__ */ custom<string>(isPublicUrl, publicUrlRule),
    ),
  },
  presence,
);

/**
 * Checks the token that `signUrl` put in a URL, and gives what it carries. `receive` and the handlers
 * do this; use it for what isn't a POST, such as the upgrade of the WebSocket at `ws_url`.
 *
 * @param url - what the request came to: absolute, or from the path on, as Node's `request.url`
 * @param options - the secret, or a list of those to accept; the `publicUrl`, where a proxy rewrites the
 * path on the way: the URL that was signed, of which the path counts
 * @returns the context, `{}` when none was signed
 * @throws {RefusedException} `no_token`, `wrong_token` or `expired_token`
 * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule
 *
 * @example Let only the service open a media socket
 * ```ts
 * import { signUrl, verifyUrl } from "outdial/callbacks";
 *
 * const secret = "a secret that was made at random";
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
  const { secret, publicUrl } = check(Options, () => options);
  return contextOf(url, secretsOf(secret), publicUrl);
};
