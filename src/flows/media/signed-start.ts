import { boolean, custom, exactOptional, object, string } from "valibot";
import {
  type Context,
  contextOf,
  isPublicUrl,
  publicUrlRule,
  type Secret,
  secretRule,
  secretsOf,
} from "../../callbacks/signed-url.ts";
import { check, fail, fieldsOf, isText, presence } from "../../lib/check.ts";

/**
 * How the `start` of a stream is verified, for a service that drops the query of a `ws_url`, such as Twilio: the
 * token that `signUrl` put there comes with `start`. Any other service keeps the query: there, verify the URL with
 * `verifyUrl` before you accept the socket.
 */
export interface StartChecks {
  /**
   * The secret that was given to `signUrl`, or a list of secrets to accept. Until `start` is verified, nothing else
   * is called and nothing is sent; a socket whose token is missing, wrong or expired is closed with 1008.
   */
  readonly secret?: Secret;
  /** The URL of the request that opened the socket, needed with `secret`: absolute, or from the path on. */
  readonly url?: string;
  /**
   * The URL that was signed, for a proxy that rewrites the path.
   *
   * @defaultValue the URL of the request
   */
  readonly publicUrl?: string;
  /**
   * Allows that no `secret` is given. Anybody who finds the URL can then speak to your agent.
   *
   * @defaultValue `false`
   */
  readonly dangerouslyAllowUnverified?: boolean;
}

/** An explicit `undefined` breaks these rules: an environment variable that isn't set must not remove the check. */
const Checks = object(
  {
    secret: exactOptional(custom<Secret>((value) => !!secretsOf(value).length, secretRule)),
    url: exactOptional(string("must be the URL of the request, as a string")),
    publicUrl: exactOptional(custom<string>(isPublicUrl, publicUrlRule)),
    dangerouslyAllowUnverified: exactOptional(boolean("must be true or false")),
  },
  presence,
);

/**
 * Checks the options about `start`, and returns what verifies the query that comes with it.
 *
 * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule
 */
export type StartVerifier = (
  checks: StartChecks,
) => (token: string | undefined) => Promise<Context>;

/** The rule of `secret`, which verifies nothing where the query comes with the URL. */
export const onlyWithService =
  "is for a service that sends the query with start: here, verify the URL with verifyUrl";

/** For a service that sends the query of a `ws_url` with `start`. */
export const startVerifier: StartVerifier = (checks) => {
  const { secret, url, publicUrl, dangerouslyAllowUnverified } = check(
    Checks,
    () => checks,
    "options",
  );
  if (secret === undefined) {
    if (!dangerouslyAllowUnverified) fail("secret", "is missing");
    return async () => ({});
  }
  const [path] = url?.split(/[?#]/) ?? [];
  if (!path) return fail("url", "is missing: pass the URL of the request");
  return (token = "") => contextOf(`${path}?${token}`, secretsOf(secret), publicUrl);
};

/** The most characters of Twilio's `<Parameter>` are 499, with its name: enough is left for escapes. */
const maxPiece = 400;

/** The longest query that `signUrl` makes, in characters, and the parameters that hold it. */
const maxToken = 2083;
const maxParameters = 32;

const nameOf = (at: number): string => `outdial.${at}`;

/**
 * The query of a `ws_url` in pieces, as parameters that come back with `start`: a carrier may drop the query of the
 * URL itself.
 */
export const startParameters = (search: string): readonly (readonly [string, string])[] =>
  (search.slice(1).match(new RegExp(`.{1,${maxPiece}}`, "g")) ?? []).map((piece, at) => [
    nameOf(at),
    piece,
  ]);

/**
 * The query of the `ws_url` out of the parameters of `start`. Empty, so that it is refused, when one is no text or they
 * are longer than any that was signed.
 */
export const tokenIn = (parameters: unknown): string | undefined => {
  const given = fieldsOf(parameters);
  let token: string | undefined;
  for (let at = 0; at < maxParameters && Object.hasOwn(given, nameOf(at)); at++) {
    const part = given[nameOf(at)];
    if (!isText(part)) return "";
    token = (token ?? "") + part;
    if (token.length > maxToken) return "";
  }
  return token;
};
