import { custom } from "valibot";
import { check } from "../rules/check.ts";
import { isFunction } from "../rules/kind.ts";
import { type Received, read } from "./receive.ts";
import { guard, type OnError } from "./verify/guard.ts";
import {
  functionRule,
  hook,
  patience,
  requireACheck,
  type Verification,
  withChecks,
} from "./verify/verification.ts";

/** What `callbackHandler` takes: the checks of `receive`, and what to do. */
export type CallbackOptions = Verification & {
  /**
   * Does what is to be done about an event. When it throws, be it a `RefusedException`, the service is
   * answered 500 and delivers again. The answer waits for it, however long it takes, as a platform may
   * end the work with the answer; the service waits 10 s, and then delivers again.
   */
  readonly onEvent: (received: Received) => unknown;
  /**
   * Hears of every refusal (`RefusedException`) and of what `onEvent`, `verify` and `waitUntil` throw; the
   * sender doesn't. What it throws itself is ignored, and a promise of it isn't waited for.
   */
  readonly onError?: OnError | undefined;
  /**
   * The platform's own, such as `(work) => ctx.waitUntil(work)`: the service is answered at once, and
   * `onEvent` goes on behind the answer. What it throws then is only told to `onError`: the service
   * has its answer, and doesn't deliver again. When `waitUntil` itself throws, `onError` hears of it, and
   * the answer waits for `onEvent` after all. A promise of it isn't waited for: when that rejects,
   * `onError` hears of it too.
   *
   * @defaultValue none: the answer waits for `onEvent`
   */
  readonly waitUntil?: ((work: Promise<unknown>) => unknown) | undefined;
};

const Options = /* @__PURE__ */ withChecks({
  onEvent: /* @__PURE__ */ custom<CallbackOptions["onEvent"]>(isFunction, functionRule),
  onError: /* @__PURE__ */ hook<OnError>(),
  waitUntil: /* @__PURE__ */ hook<NonNullable<CallbackOptions["waitUntil"]>>(),
});

/**
 * Makes a handler for `status_callback_url` out of a function that takes an event. It is what
 * Workers, Deno, Bun, Hono, Next and the adapters of Lambda call with a `Request`.
 *
 * | answer | when |
 * |---|---|
 * | 204 | `onEvent` is done, or goes on in `waitUntil` |
 * | 405, 413, 408, 400, 401 | the request is refused; the reasons are `RefusedException`'s |
 * | 500 | `onEvent` threw, your `verify` did or took more than 10 s, or the body was read before: the service delivers again |
 *
 * @param options - how to know the service, and what to do
 * @returns a function from a request to its answer; it never rejects, and waits for nothing but `onEvent`
 * beyond 10 s
 * @throws {BadParametersException} (`placed: "no"`) at once, when an option breaks its rule, or no
 * check is given
 *
 * @example Serve the status notifications
 * ```ts
 * import { callbackHandler, signUrl } from "outdial/callbacks";
 *
 * const secret = "a secret that was made at random";
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
 */
export const callbackHandler = (
  options: CallbackOptions,
): ((request: Request) => Promise<Response>) => {
  const { onEvent, onError, waitUntil, ...verification } = check(Options, () => options);
  requireACheck(verification);
  return guard({
    longest: patience,
    read: (request, limit) => read(request, verification, limit),
    act: async (received, { report }) => {
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
    failed: () => new Response(null, { status: 500 }),
    onError,
  });
};
