import type { Context } from "../callbacks/signed-url.ts";
import { fail, isRecord } from "../lib/check.ts";
import { base64url, utf8 } from "../lib/encoding.ts";
import { macOf } from "../lib/hmac.ts";
import { urlRule } from "../lib/url.ts";
import type { FlowInput } from "../service.ts";
import type { Dial, Hangup, Play } from "./actions.ts";

/** What follows a `dial` whose callee wasn't reached. */
export type Branch = "on_busy" | "on_no_answer" | "on_failure";

/** The branches of a `dial`, for the context of its continuation. */
export const branchesOf = ({ on_busy, on_no_answer, on_failure }: Dial): Pick<Dial, Branch> => ({
  on_busy,
  on_no_answer,
  on_failure,
});

/** The first branch that a `dial` has: errors about its continuation name it. */
export const firstBranch = (dial: Dial): string | undefined =>
  Object.entries(branchesOf(dial)).find(([, action]) => action)?.[0];

/** Whether a context has an action there: the schema had checked it before it was signed. */
export const isBranch = (value: unknown): value is Play | Hangup => isRecord(value);

/** Marks the URL at which `flowHandler` itself answers what follows an action. The token covers it. */
const marker = "outdial-dial=1";

const signedPath = /[?&]outdial-dial=1&outdial=[^&]*$/;

/** Whether a URL is one that `signContinuation` made: `secret` verifies that. */
export const isContinuation = (url: string): boolean => signedPath.test(url);

/** How long that URL is valid, in seconds: no call is longer. */
const validity = 86_400;

/** What `signUrl`, `machineUrl` and this module add to a URL. */
export const additions: RegExp = /([?&]outdial(-\w+)?=[^&]*)+$/;

/**
 * Signs a URL of the flow's own, with what it carries.
 *
 * @param param - the field that needs it
 * @param marked - a parameter that marks it, with `&`; or nothing
 * @param contentOf - what it carries, by the path, query and expiry of the URL
 * @throws {BadParametersException} that names the field, without the option `secret` or where the URL breaks its rule
 */
export const signOwnUrl = async (
  {
    request,
    publicUrl,
    secret,
    pathIn,
  }: Pick<FlowInput, "request" | "secret" | "pathIn"> & Partial<Pick<FlowInput, "publicUrl">>,
  param: string,
  marked: string,
  contentOf: (bound: string, secret: string) => Uint8Array | Promise<Uint8Array>,
): Promise<string> => {
  const [first] = [secret].flat();
  if (!first) return fail(param, "needs the option secret of flowHandler");
  const path = pathIn(request.url, publicUrl).replace(additions, "");
  const expires = Math.ceil(Date.now() / 1000) + validity;
  const bound = `${path}${path.includes("?") ? "&" : "?"}${marked}outdial=${expires}.`;
  const covered = `${bound}${base64url(await contentOf(bound, first))}.`;
  const mac = base64url(await macOf(first, utf8(covered)));
  const url = new URL(publicUrl ?? request.url).origin + covered + mac;
  const rule = urlRule(url);
  return rule ? fail(param, `is answered at a signed URL, which ${rule}`) : url;
};

/**
 * Signs the URL at which `flowHandler` itself answers what follows a `dial`. Unlike the context of `signUrl`, its
 * context may be as long as the URL can be.
 *
 * @param param - the field that needs it
 * @throws {BadParametersException} that names the field, without the option `secret` or where the URL breaks its rule
 */
export const signContinuation = (
  context: Context,
  input: FlowInput,
  param: string,
): Promise<string> => signOwnUrl(input, param, `${marker}&`, () => utf8(JSON.stringify(context)));

/** The context of a continuation, if the request came to one. */
export const continuationIn = (input: FlowInput): Context | undefined =>
  input.secret && isContinuation(input.pathIn(input.request.url, input.publicUrl))
    ? input.context
    : undefined;
