import { fail } from "../lib/check.ts";
import { base64url, utf8 } from "../lib/encoding.ts";
import { macOf } from "../lib/hmac.ts";
import { urlRule } from "../lib/url.ts";
import type { FlowInput } from "./webhooks.ts";

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
