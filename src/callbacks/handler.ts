import { custom } from "valibot";
import { check, isFunction } from "../lib/check.ts";
import { type CallEvent, eventIn, type UnknownEvent } from "./event.ts";
import { type Context, contextIn } from "./signed-url.ts";
import {
  type Checks,
  functionRule,
  handlerOf,
  hook,
  messageIn,
  type OnError,
  readTimeout,
  requireCheck,
  type Verification,
  verified,
  withChecks,
  withinTime,
} from "./verify.ts";

/** A status notification whose sender was verified. */
export interface Received {
  /** What happened. `known` separates the six types of `CallEvent` from newer ones and those about no call. */
  readonly event: CallEvent | UnknownEvent;
  /** The context of the signed URL; `{}` when none was signed, or no `secret` was given. */
  readonly context: Context;
}

const read = (request: Request, verification: Checks): Promise<Received> =>
  withinTime(readTimeout, async (waiting) => {
    const { body, token } = await verified(request, verification, waiting);
    const event = messageIn(body, eventIn, verification.service?.application.decodeEvent);
    return { event, context: contextIn(token) };
  });

const ReceiveOptions = withChecks({});

/**
 * Reads a status notification from a request, once its sender is verified.
 *
 * Deliveries are at least once: act once for each `event.id`. A delivery that somebody records and
 * sends again within its time looks like a retry of the service.
 *
 * @param request - as the platform gives it, its body not read yet
 * @param options - how to verify the sender: `secret`, `webhookSecret`, `service` or `verify`, or several
 * @returns the event, and the context that its URL was signed with
 * @throws {RefusedException} with the `reason`, and the `status` to answer
 * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule, no check is given, or
 * the request is no `Request` or its body has been read already: answer with 500
 * @throws what your `verify` throws, or a `TimeoutError` (a `DOMException`) when it gives no answer within
 * 10 s: answer with 500
 *
 * @example Receive a notification in a framework of your own
 * ```ts
 * import { receive, RefusedException, signUrl } from "outdial/callbacks";
 *
 * const secret = crypto.randomUUID(); // In production: from the environment, the same in every process.
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
 * @see docs/callbacks.md
 */
export const receive = async (request: Request, options: Verification): Promise<Received> => {
  const verification = check(ReceiveOptions, () => options, "options");
  requireCheck(verification);
  return read(request, verification);
};

/** The options of `callbackHandler`: the checks of `receive`, and what to do. */
export type CallbackOptions = Verification & {
  /**
   * Handles an event. When it throws, even a `RefusedException`, the response is 500 (503 with
   * `service`) and the service delivers again. The response waits for it, however long it takes, because a platform may end the
   * work with the response; the service waits 10 s, and then delivers again.
   */
  readonly onEvent: (received: Received) => unknown;
  /**
   * Called with every refusal (`RefusedException`) and with what `onEvent`, `verify` and `waitUntil`
   * throw, and with the id of the call once that is known. What it throws itself is ignored, and its promise is not awaited.
   *
   * @defaultValue `console.error` prints what your functions throw, with the id of the call, and the first refusal; then one
   * refusal a minute, with their count
   */
  readonly onError?: OnError | undefined;
  /**
   * The platform's own, such as `(work) => ctx.waitUntil(work)`: the response is sent at once, and
   * `onEvent` continues behind it. What `onEvent` throws then goes to `onError` only: the service has
   * its response, and does not deliver again. When `waitUntil` itself throws, the response waits for
   * `onEvent` after all. Its promise is not awaited; its rejection goes to `onError`.
   *
   * @defaultValue none: the response waits for `onEvent`
   */
  readonly waitUntil?: ((work: Promise<unknown>) => unknown) | undefined;
};

const HandlerOptions = withChecks({
  onEvent: custom<CallbackOptions["onEvent"]>(isFunction, functionRule),
  onError: hook<OnError>(),
  waitUntil: hook<NonNullable<CallbackOptions["waitUntil"]>>(),
});

/**
 * Makes a handler for `status_callback_url` from a function that handles an event. Workers, Deno, Bun,
 * Hono, Next and the adapters of Lambda call it with a `Request`.
 *
 * | response | when |
 * |---|---|
 * | 204 | `onEvent` is done, or continues in `waitUntil`; or a `HEAD` or `OPTIONS` came to a URL that `secret` signed |
 * | 405, 413, 408, 400, 401, with `service` 503 too, and a sentence | the request is refused; the reasons are `RefusedException`'s |
 * | 500, with `service` 503 | `onEvent` threw, `verify` threw or took more than 10 s, or the body was read before: the service delivers again |
 *
 * @param options - how to verify the sender, and what to do
 * @returns a function from a request to its response; it never rejects, and waits for nothing but
 * `onEvent` beyond 10 s
 * @throws {BadParametersException} (`placed: "no"`) at once, when an option breaks its rule, or no
 * check is given
 *
 * @example Serve the status notifications
 * ```ts
 * import { callbackHandler, signUrl } from "outdial/callbacks";
 *
 * const secret = crypto.randomUUID(); // In production: from the environment, the same in every process.
 * const handler = callbackHandler({
 *   secret,
 *   onEvent: ({ event, context }) => {
 *     if (!event.known) return; // A type that is newer than this version.
 *     switch (event.type) {
 *       case "call.completed":
 *         console.log(context.order, event.data.duration); // 17 42
 *         break;
 *       case "call.failed":
 *         console.log(context.order, event.data.reason);
 *     }
 *   },
 *   onError: console.error,
 * });
 *
 * // In a Worker: export default { fetch: handler }. In Deno: Deno.serve(handler). Here:
 * const url = await signUrl("https://app.test/status", { secret, context: { order: 17 } });
 * const body = JSON.stringify({ type: "call.completed", call_id: "cs_1", data: { duration: 42 } });
 * const response = await handler(new Request(url, { method: "POST", body }));
 * console.log(response.status); // 204
 * ```
 * @see docs/callbacks.md
 */
export const callbackHandler = (
  options: CallbackOptions,
): ((request: Request) => Promise<Response>) => {
  const { onEvent, onError, waitUntil, ...verification } = check(
    HandlerOptions,
    () => options,
    "options",
  );
  requireCheck(verification);
  return handlerOf({
    work: async (request, { accept, report }) => {
      const received = await read(request, verification);
      accept(received.event.call_id);
      const work = (async () => onEvent(received))();
      let isBehind = false;
      try {
        const handed = waitUntil?.(work.catch((error) => isBehind && report(error)));
        isBehind = !!waitUntil;
        Promise.resolve(handed).catch(report);
      } catch (error) {
        report(error);
      }
      if (!isBehind) await work;
      return new Response(null, { status: 204 });
    },
    // Every carrier delivers again after 503; some do after no other status.
    failed: () => new Response(null, { status: verification.service ? 503 : 500 }),
    onError,
    name: "callbackHandler",
    checks: verification,
  });
};
