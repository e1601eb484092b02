import { check } from "../rules/check.ts";
import { Event, type UnknownEvent } from "./event.ts";
import type { Context } from "./url/token.ts";
import { type Limit, withLimit } from "./verify/limit.ts";
import { messageIn } from "./verify/message.ts";
import {
  type Checks,
  open,
  patience,
  requireACheck,
  type Verification,
  withChecks,
} from "./verify/verification.ts";

/** A status notification that proved where it comes from. */
export interface Received {
  /** What happened. `known` tells the five types of `Event` from what is newer or is about no call. */
  readonly event: Event | UnknownEvent;
  /** What the signed URL carried; `{}` when none was signed, or no `secret` was given. */
  readonly context: Context;
}

/** `receive`, with options that are checked already. */
export const read = async (
  request: Request,
  verification: Checks,
  limit: Limit,
): Promise<Received> => {
  const { body, context } = await open(request, verification, limit);
  return { event: messageIn(body, Event), context };
};

const ReceiveOptions = /* @__PURE__ */ withChecks({});

/**
 * Reads a status notification out of a request, once it has proved where it comes from.
 *
 * Deliveries are at least once: act once for each `event.id`. A delivery that is recorded and sent
 * again within its time looks just like a retry of the service.
 *
 * @param request - as the platform gives it, its body not read yet
 * @param options - how to know the service: `secret`, `webhookSecret` or `verify`, or several
 * @returns the event, and the context that its URL was signed with
 * @throws {RefusedException} its `reason` says why, its `status` what to answer
 * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule, no check is given, or
 * the request is no `Request` or has a body that somebody has read already: answer with 500
 * @throws what your `verify` throws, or a `TimeoutError` (a `DOMException`) when it gives no answer within
 * 10 s: answer with 500
 *
 * @example Receive a notification in a framework of your own
 * ```ts
 * import { receive, RefusedException, signUrl } from "outdial/callbacks";
 *
 * const secret = "a secret that was made at random";
 * const serve = async (request: Request): Promise<Response> => {
 *   try {
 *     const { event, context } = await receive(request, { secret });
 *     console.log(context.order, event.type, event.call_id); // 17 call.ringing cs_1
 *     return new Response(null, { status: 204 });
 *   } catch (error) {
 *     if (!(error instanceof RefusedException)) throw error;
 *     return new Response(null, { status: error.status });
 *   }
 * };
 *
 * const url = await signUrl("https://app.test/status", { secret, context: { order: 17 } });
 * const body = JSON.stringify({ type: "call.ringing", call_id: "cs_1", data: {} });
 * const response = await serve(new Request(url, { method: "POST", body }));
 * console.log(response.status); // 204
 * ```
 */
export const receive = async (request: Request, options: Verification): Promise<Received> => {
  const verification = check(ReceiveOptions, () => options);
  requireACheck(verification);
  return withLimit(patience, (limit) => read(request, verification, limit));
};
