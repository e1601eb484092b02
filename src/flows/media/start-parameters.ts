import { fieldsOf, isText } from "../../lib/check.ts";

/** The most characters of Twilio's `<Parameter>` are 499, with its name: enough is left for escapes. */
const longest = 400;

/** The longest query that `signUrl` makes, in characters, and the parameters that hold it. */
const maxToken = 2083;
const maxParameters = 32;

const nameOf = (at: number): string => `outdial.${at}`;

/**
 * The query of a `ws_url` in pieces, as parameters that come back with `start`: a carrier may drop the query of the
 * URL itself.
 */
export const startParameters = (search: string): readonly (readonly [string, string])[] =>
  (search.slice(1).match(new RegExp(`.{1,${longest}}`, "g")) ?? []).map((piece, at) => [
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
