import { decoded } from "../../bytes/base64.ts";
import { BadParametersException } from "../../errors.ts";
import { isMadeBy } from "../verify/mac.ts";
import { RefusedException } from "../verify/refused.ts";
import { bytesOf, type Context, type Secret, secretRule, secretsOf } from "./token.ts";

/**
 * After the host, which isn't covered: what is, with its expiry and context, and the MAC. It starts
 * greedy, to find the last parameter. The last character of 32 bytes in base64 has two bits to spare,
 * which a decoder ignores and a forger could change: only what an encoder makes of them is let in.
 */
const shape =
  /^(?:\w+:\/\/[^/?#\\]*)?(\/.*[?&]outdial=(\d+)\.([\w-]+)\.)([\w-]{42}[AEIMQUYcgkosw048])(?:#.*)?$/;

/** `verifyUrl`, with secrets that are checked already. */
export const contextOf = async (url: string, secrets: readonly string[]): Promise<Context> => {
  const [, covered, expires, context, mac] = shape.exec(url) ?? [];
  if (!covered || !context || !mac) throw new RefusedException("no_token");
  if (!(await isMadeBy(secrets.map(bytesOf), mac, bytesOf(covered)))) {
    throw new RefusedException("wrong_token");
  }
  if (Number(expires) * 1000 <= Date.now()) throw new RefusedException("expired_token");
  return JSON.parse(new TextDecoder().decode(decoded(context)));
};

/**
 * Checks the token that `signUrl` put in a URL, and gives what it carries. `receive` and the handlers
 * do this; use it for what isn't a POST, such as the upgrade of the WebSocket at `ws_url`.
 *
 * @param url - what the request came to: absolute, or from the path on, as Node's `request.url`
 * @param options - the secret, or a list of those to accept
 * @returns the context, `{}` when none was signed
 * @throws {RefusedException} `no_token`, `wrong_token` or `expired_token`
 * @throws {BadParametersException} (`placed: "no"`) when the secret breaks its rule
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
 * @see contract.md, "Media messages on `ws_url`"
 */
export const verifyUrl = async (
  url: string,
  { secret }: { readonly secret: Secret },
): Promise<Context> => {
  const secrets = secretsOf(secret);
  if (!secrets.length) throw new BadParametersException([{ param: "secret", message: secretRule }]);
  return contextOf(url, secrets);
};
