import {
  type CustomIssue,
  type CustomSchema,
  custom,
  type ErrorMessage,
  type ExactOptionalSchema,
  exactOptional,
  type ObjectEntries,
  type StrictObjectIssue,
  type StrictObjectSchema,
  strictObject,
} from "valibot";
import { presence } from "../../rules/check.ts";
import { isFunction } from "../../rules/kind.ts";
import { refuse } from "../../rules/refuse.ts";
import { RefusedException } from "../refused.ts";
import { type Context, type Secret, secretRule, secretsOf } from "../url/token.ts";
import { contextOf, isPublicUrl, publicUrlRule } from "../url/verify-url.ts";
import { readBytes } from "./body.ts";
import { type Limit, lateAnswer } from "./limit.ts";
import { verifyWebhook, webhookSecretsOf } from "./webhook.ts";

/** The ways to know who sends a request. Every one that is given must agree. */
export interface Checks {
  /** Of the URL's token: what `signUrl` was given, or a list of those to accept. */
  readonly secret?: Secret;
  /**
   * Of the Standard Webhooks signature, for a service that signs: `whsec_` and base64, or a list of
   * those to accept. A message is good for 5 minutes.
   */
  readonly webhookSecret?: Secret;
  /**
   * A check of your own, for a service that signs in another way: the request (its body is read
   * already) and the raw body. `timestampedHmac` makes one. Anything but `true` refuses, as does a
   * `RefusedException`; whatever else it throws is a failure, not a refusal, and so is no answer (a
   * `TimeoutError`) within the 10 s, in `flowHandler` 8 s, that it has together with the body.
   */
  readonly verify?: (request: Request, body: Uint8Array<ArrayBuffer>) => boolean | Promise<boolean>;
  /**
   * Where the service comes to, when a proxy rewrites the path on the way: the URL that you have signed,
   * of which the path counts. Only `secret` looks at it.
   *
   * @defaultValue the URL of the request
   */
  readonly publicUrl?: string;
  /**
   * Takes a request from anyone who finds the URL, when no check is given.
   *
   * @defaultValue `false`
   */
  readonly dangerouslyAllowUnverified?: boolean;
}

/** At least one of the checks, or the word that none is wanted. */
export type Verification = Checks &
  (
    | Required<Pick<Checks, "secret">>
    | Required<Pick<Checks, "webhookSecret">>
    | Required<Pick<Checks, "verify">>
    | { readonly dangerouslyAllowUnverified: true }
  );

/** The most that the service waits for an answer, in milliseconds. */
export const patience = 10_000;

export const functionRule = "must be a function";

/** The rule of something that may be left out. */
type Rule<T> = ExactOptionalSchema<
  CustomSchema<T, ErrorMessage<CustomIssue> | undefined>,
  undefined
>;

type Rules = { readonly [Name in keyof Checks]-?: Rule<NonNullable<Checks[Name]>> };

/** The rule of a function that may be left out. */
export const hook = <T>(): Rule<T | undefined> =>
  exactOptional(custom((value) => value === undefined || isFunction(value), functionRule));

/**
 * The rules of the checks. An explicit `undefined` breaks them: the variable of a secret that isn't
 * set must not silently take its check away.
 */
const checks: Rules = {
  secret: /* @__PURE__ */ exactOptional(
    /* @__PURE__ */ custom<Secret>((value) => !!secretsOf(value).length, secretRule),
  ),
  webhookSecret: /* @__PURE__ */ exactOptional(
    /* @__PURE__ */ custom<Secret>(
      (value) => !!webhookSecretsOf(value).length,
      "must be whsec_ and base64 of 16 bytes or more, or a list of such",
    ),
  ),
  verify: /* @__PURE__ */ exactOptional(
    /* @__PURE__ */ custom<NonNullable<Checks["verify"]>>(isFunction, functionRule),
  ),
  publicUrl: /* @__PURE__ */ exactOptional(
    /* @__PURE__ */ custom<string>(isPublicUrl, publicUrlRule),
  ),
  dangerouslyAllowUnverified: /* @__PURE__ */ exactOptional(
    /* @__PURE__ */ custom<boolean>((value) => typeof value === "boolean", "must be true or false"),
  ),
};

/** The rules of options that are checks and something of a handler's own. */
export const withChecks = <Own extends ObjectEntries>(
  own: Own,
): StrictObjectSchema<Rules & Own, ErrorMessage<StrictObjectIssue>> =>
  strictObject({ ...checks, ...own }, presence);

/** @throws {BadParametersException} when a request would be taken from anyone, and nobody said so */
export const requireACheck = (given: Checks): void => {
  const { secret, webhookSecret, verify, dangerouslyAllowUnverified } = given;
  if (secret || webhookSecret || verify || dangerouslyAllowUnverified) return;
  refuse("secret", "is missing, as are webhookSecret and verify");
};

/**
 * The raw body of a POST from the service, and what its URL carries. The token comes first: a sender
 * without one isn't read at all.
 *
 * @throws {RefusedException}
 * @throws {BadParametersException} when it is no `Request`, or its body has been read already or doesn't
 * consist of bytes: a failure of the application, that the service should not take for an answer
 * @throws what `verify` throws, or a `TimeoutError` when it gives no answer within the limit
 */
export const open = async (
  request: Request,
  { secret, webhookSecret, verify, publicUrl }: Checks,
  limit: Limit,
): Promise<{ readonly body: Uint8Array; readonly context: Context }> => {
  const { method, url, headers, bodyUsed } = Object(request);
  if (typeof headers?.get !== "function") refuse("request", "must be a Request");
  if (method !== "POST") throw new RefusedException("wrong_method");
  const context = secret ? await contextOf(url, secretsOf(secret), publicUrl) : {};
  if (bodyUsed || request.body?.locked) refuse("request", "has a body that was read before");
  const body = await readBytes(request, limit);
  if (webhookSecret) await verifyWebhook(request, body, webhookSecretsOf(webhookSecret));
  if (verify && (await limit(verify(request, body), lateAnswer("verify"))) !== true) {
    throw new RefusedException("not_verified");
  }
  return { body, context };
};
