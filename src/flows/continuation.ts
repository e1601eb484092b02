import { contextIn, type Secret, secretsOf, signUrl, tokenOf } from "../callbacks/signed-url.ts";
import { fail } from "../lib/check.ts";
import { base64url, utf8 } from "../lib/encoding.ts";
import { macOf } from "../lib/hmac.ts";
import { urlRule } from "../lib/url.ts";
import type { Branch, Dial } from "./actions.ts";
import type { FlowState } from "./flow-state.ts";
import { seal } from "./sealed-state.ts";
import type { Dialed, FlowInput } from "./webhooks.ts";

/** The branches of a `dial`. */
export const branchesOf = ({ on_busy, on_no_answer, on_failure }: Dial): Pick<Dial, Branch> => ({
  on_busy,
  on_no_answer,
  on_failure,
});

/** The first branch that a `dial` has: errors about its URL name it. */
export const firstBranch = (dial: Dial): string | undefined =>
  Object.entries(branchesOf(dial)).find(([, action]) => action)?.[0];

/** How long such a URL is valid at most, in seconds: no call is longer. */
const validity = 86_400;

/** What `signUrl`, `machineUrl` and this module add to a URL: its last parameters. */
const addition = /^outdial(-\w+)?=/;

/** A URL, or its path and query, without what this package has added to it. */
export const withoutAdditions = (url: string): string => {
  const [path = "", ...queries] = url.split("?");
  const parameters = queries.join("?").split("&");
  while (addition.test(parameters.at(-1) ?? "")) parameters.pop();
  return queries.length && parameters.length ? `${path}?${parameters.join("&")}` : path;
};

/**
 * A URL of the application, marked with how a `dial` has ended, and signed again where `signUrl` had signed it. One that
 * another secret has signed, or that has no room, stays as it is.
 */
export const dialedUrl = async (
  url: string,
  status: string,
  secret: Secret | undefined,
): Promise<string> => {
  const [base = "", ...hash] = url.split("#");
  const bare = withoutAdditions(base);
  const mark = `${bare.includes("?") ? "&" : "?"}outdial-dialed=${status}`;
  const marked = [bare + mark, ...hash].join("#");
  if (bare === base) return marked;
  try {
    const token = await tokenOf(url, secretsOf(secret), undefined);
    const expiresIn = token.expires - Math.ceil(Date.now() / 1000);
    return await signUrl(marked, { secret: secret ?? "", context: contextIn(token), expiresIn });
  } catch {
    return url;
  }
};

/** How a `dial` has ended, out of the URL at which the flow continues. */
export const dialedIn = (url: string): string | undefined =>
  /[?&]outdial-dialed=([a-z-]+)/.exec(url)?.[1];

/** Characters of the end of a token: a dot, and a MAC of 32 bytes in base64url. */
const macLength = 44;

/**
 * Signs a URL of the flow's own, with what it carries. It expires with the URL of the request, and after a day at most:
 * no URL renews itself.
 *
 * @param param - the field that needs it
 * @param marked - a parameter that marks it, with `&`; or nothing
 * @param contentOf - what it carries, by the path, query and expiry of the URL, and by the bytes for which it has room
 * @throws {BadParametersException} that names the field, without the option `secret` or where the URL breaks its rule
 */
export const signOwnUrl = async (
  {
    request,
    publicUrl,
    secret,
    pathIn,
    maxUrl,
    expires: last = Number.POSITIVE_INFINITY,
  }: Pick<FlowInput, "request" | "secret" | "pathIn" | "maxUrl"> &
    Partial<Pick<FlowInput, "publicUrl" | "expires">>,
  param: string,
  marked: string,
  contentOf: (bound: string, secret: string, room: number) => Uint8Array | Promise<Uint8Array>,
): Promise<string> => {
  const [first] = [secret].flat();
  if (!first) return fail(param, "needs the option secret of flowHandler");
  const path = withoutAdditions(pathIn(request.url, publicUrl));
  const expires = Math.min(last, Math.ceil(Date.now() / 1000) + validity);
  const bound = `${path}${path.includes("?") ? "&" : "?"}${marked}outdial=${expires}.`;
  const { origin } = new URL(publicUrl ?? request.url);
  const characters = maxUrl - origin.length - bound.length - macLength;
  const content = await contentOf(bound, first, Math.floor((characters * 3) / 4));
  const covered = `${bound}${base64url(content)}.`;
  const url = origin + covered + base64url(await macOf(first, utf8(covered)));
  if (url.length > maxUrl) fail(param, `needs a URL of ${url.length} characters, above ${maxUrl}`);
  const rule = urlRule(url, "http", maxUrl);
  return rule ? fail(param, `is answered at a signed URL, which ${rule}`) : url;
};

/**
 * Signs the URL at which `flowHandler` itself answers what follows a `dial`. It belongs to the call of the request, and
 * what it carries is sealed.
 *
 * @param param - the field that needs it
 * @param others - a parameter that marks it, with `&`; and the call of the requests that come to it, if not that of this one
 * @throws {BadParametersException} that names the field, without the option `secret` or where the URL breaks its rule
 */
export const signDialed = (
  dialed: Dialed,
  input: FlowInput,
  param: string,
  { marked = "", of = input.of }: { readonly marked?: string; readonly of?: FlowState["of"] } = {},
): Promise<string> => {
  const state: FlowState = { of, at: "", attempt: 1, context: {}, answers: {}, dialed };
  return signOwnUrl(input, param, marked, (bound, secret) => seal(state, secret, bound));
};
