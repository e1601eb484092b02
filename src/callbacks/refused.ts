/** The HTTP status that answers a refusal; 401 for those that aren't here. */
const statuses: ReadonlyMap<Refusal, number> = /* @__PURE__ */ new Map([
  ["wrong_method", 405],
  ["too_large", 413],
  ["too_slow", 408],
  ["not_utf8", 400],
  ["not_json", 400],
  ["too_deep", 400],
  ["wrong_shape", 400],
]);

/** The status of every refusal there is, out of the reach of who gets to see one. */
const refusals = /* @__PURE__ */ new WeakMap<WeakKey, number>();

/**
 * The status that answers what was thrown, if it is a refusal. Not by `instanceof`, which asks the thing
 * itself: a proxy may throw again.
 */
export const statusOf = (thrown: unknown): number | undefined => refusals.get(Object(thrown));

/**
 * Why a request was refused.
 *
 * | reason | status | the request |
 * |---|---|---|
 * | `wrong_method` | 405 | isn't a POST |
 * | `too_large` | 413 | has a body over 64 KiB |
 * | `too_slow` | 408 | has a body that took more than 10 s, in `flowHandler` 8 s |
 * | `no_token`, `wrong_token`, `expired_token` | 401 | came to a URL without a token at its end, with one that none of the secrets made for this path and query, or one whose time has passed |
 * | `no_signature`, `wrong_signature`, `expired_signature` | 401 | has no complete headers of a signature (Standard Webhooks, or those of `timestampedHmac`), none that one of the secrets made for this body, or a time more than 5 minutes off |
 * | `not_verified` | 401 | is one that your `verify` didn't answer with `true` |
 * | `not_utf8`, `not_json`, `too_deep` | 400 | has a body that isn't text, isn't JSON, or is nested more than 32 deep |
 * | `wrong_shape` | 400 | is JSON, but not what the service sends |
 */
export type Refusal =
  | "wrong_method"
  | "too_large"
  | "too_slow"
  | "no_token"
  | "wrong_token"
  | "expired_token"
  | "no_signature"
  | "wrong_signature"
  | "expired_signature"
  | "not_verified"
  | "not_utf8"
  | "not_json"
  | "too_deep"
  | "wrong_shape";

/**
 * A request didn't prove where it comes from, or isn't what the service sends. `reason` is for your
 * log: a sender who learns it could mend the next attempt, so the handlers answer with the status
 * and an empty body.
 *
 * @example Count what is refused
 * ```ts
 * import { receive, RefusedException } from "outdial/callbacks";
 *
 * const request = new Request("https://app.test/status", { method: "POST", body: "{}" });
 * try {
 *   await receive(request, { secret: "a secret that was made at random" });
 * } catch (error) {
 *   if (!(error instanceof RefusedException)) throw error;
 *   console.log(error.reason, error.status); // no_token 401
 * }
 * ```
 */
export class RefusedException extends Error {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "RefusedException" as const;
  /** Why, for your log. */
  readonly reason: Refusal;
  /** What an HTTP answer should have as its status. */
  readonly status: number;

  /**
   * Refuses, with the status that goes with the reason.
   *
   * @param reason - why
   */
  constructor(reason: Refusal) {
    super(`The request was refused: ${reason}`);
    this.reason = reason;
    this.status = statuses.get(reason) ?? 401;
    refusals.set(this, this.status);
  }
}
