import { withoutThrowing } from "../lib/check.ts";

/**
 * The HTTP status and the body that answer each refusal. A body is one fixed sentence: it helps whoever
 * set the service up, and repeats nothing of the request.
 */
export const refusals: Readonly<Record<Refusal, RefusalAnswer>> = {
  wrong_method: [405, "Send a POST."],
  too_large: [413, "The body is larger than 64 KiB."],
  too_slow: [408, "The body took too long."],
  no_token: [401, "The URL has no token at its end: sign it with signUrl."],
  wrong_token: [
    401,
    "The token of the URL was made for another path or query, or with another secret. Behind a proxy that rewrites the path, set publicUrl.",
  ],
  expired_token: [401, "The token of the URL has expired."],
  wrong_call: [401, "The URL was made for another call."],
  no_signature: [401, "The signature headers are missing or incomplete."],
  wrong_signature: [401, "The signature was made for another body, or with another secret."],
  expired_signature: [401, "The time of the signature is more than 5 minutes off."],
  not_verified: [401, "verify did not return true."],
  not_utf8: [400, "The body is not UTF-8."],
  not_json: [400, "The body is not JSON."],
  too_deep: [400, "The body is nested more than 32 levels deep."],
  wrong_shape: [400, "The body is not a message of the service."],
};

/**
 * Why a request was refused.
 *
 * | reason | status | the request |
 * |---|---|---|
 * | `wrong_method` | 405 | is not a POST |
 * | `too_large` | 413 | has a body over 64 KiB |
 * | `too_slow` | 408 | has a body that took more than 10 s, in `flowHandler` 8 s |
 * | `no_token` | 401 | came to a URL without a token at its end |
 * | `wrong_token` | 401 | came to a URL with a token that none of the secrets made for this path and query |
 * | `expired_token` | 401 | came to a URL whose time has passed |
 * | `wrong_call` | 401 | came to a URL of `flowHandler`'s own, a step's, that it made for another call |
 * | `no_signature` | 401 | lacks headers of a signature (Standard Webhooks, or those of `timestampedHmac`); 503 for that of `service`, so that the carrier delivers again |
 * | `wrong_signature` | 401 | has a signature that none of the secrets made for this body; or for this URL, if `service` signs it |
 * | `expired_signature` | 401 | was signed more than 5 minutes ago, or ahead |
 * | `not_verified` | 401 | did not get `true` from your `verify` |
 * | `not_utf8`, `not_json`, `too_deep` | 400 | has a body that is not UTF-8, not JSON, or nested more than 32 levels deep |
 * | `wrong_shape` | 400 | is JSON, but not what the service sends |
 */
export type Refusal =
  | "wrong_method"
  | "too_large"
  | "too_slow"
  | "no_token"
  | "wrong_token"
  | "expired_token"
  | "wrong_call"
  | "no_signature"
  | "wrong_signature"
  | "expired_signature"
  | "not_verified"
  | "not_utf8"
  | "not_json"
  | "too_deep"
  | "wrong_shape";

/** The status and the sentence that answer a refusal. */
type RefusalAnswer = readonly [status: number, sentence: string];

/** The answer to each exception, which an application can't change. */
const answers = new WeakMap<WeakKey, readonly [reason: Refusal, ...answer: RefusalAnswer]>();

/** The sentence that answers a refusal; `undefined` for what is none. */
export const refusalSentence = (reason: string): string | undefined =>
  Object.entries(refusals).find(([name]) => name === reason)?.[1][1];

/** A reason that may stand in a header, whatever an application refuses with. */
const known = (reason: Refusal): Refusal =>
  Object.hasOwn(refusals, reason) ? reason : "not_verified";

/** The header of a response that has the reason of a refusal. */
export const refusedHeader = "outdial-refused";

/** The header of the response that hangs up, as a function of the application failed: with what. */
export const failedHeader = "outdial-failed";

/**
 * The response to what was thrown, if it is a refusal. Not by `instanceof`: a proxy may throw when it
 * is asked for its prototype.
 */
export const responseTo = (thrown: unknown): Response | undefined => {
  const isKey = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
  const answer = isKey ? answers.get(thrown) : undefined;
  if (!answer) return;
  const [reason, status, sentence] = answer;
  const headers = { [refusedHeader]: reason, ...(status === 405 && { Allow: "POST" }) };
  // An answer of the application's own may have a status that a response can't have.
  return withoutThrowing(() => new Response(sentence, { status, headers }));
};

/**
 * A request did not prove where it comes from, or is not what the service sends.
 *
 * @example Count what is refused
 * ```ts
 * import { receive, RefusedException } from "outdial/callbacks";
 *
 * const request = new Request("https://app.test/status", { method: "POST", body: "{}" });
 * try {
 *   await receive(request, { secret: crypto.randomUUID() });
 * } catch (error) {
 *   if (!(error instanceof RefusedException)) throw error;
 *   console.log(error.reason, error.status); // no_token 401
 * }
 * ```
 * @see docs/callbacks.md
 */
export class RefusedException extends Error {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "RefusedException" as const;
  /** Why, for programs to compare. */
  readonly reason: Refusal;
  /** The HTTP status that answers it. */
  readonly status: number;

  /**
   * Refuses, with the status of the reason.
   *
   * @param reason - why
   * @param answer - the status and the sentence that answer it, if not those of the reason. With a status that no
   * response can have, a handler answers as after a failure
   */
  constructor(
    reason: Refusal,
    answer: readonly [status: number, sentence: string] = refusals[known(reason)],
  ) {
    super(`${reason}: ${answer[1]}`);
    this.reason = reason;
    this.status = answer[0];
    answers.set(this, [known(reason), ...answer]);
  }
}
