import {
  array,
  custom,
  type GenericSchema,
  looseObject,
  optional,
  safeParse,
  string,
} from "valibot";
import { type Context, pathIn } from "../callbacks/signed-url.ts";
import {
  functionRule,
  handlerOf,
  hook,
  messageIn,
  type OnError,
  requireCheck,
  type Verification,
  verified,
  withChecks,
  withinTime,
} from "../callbacks/verify.ts";
import { check, isFunction } from "../lib/check.ts";
import type { CarrierWebhooks } from "../service.ts";
import { Action, hangup } from "./actions.ts";
import { respondJson } from "./own.ts";

const text = string("must be a string");

/**
 * The request of the service at a flow URL, once the call is answered and again for each next step.
 *
 * @example Check a request that a queue has kept
 * ```ts
 * import { FlowRequest } from "outdial/flows";
 * import { is } from "valibot";
 *
 * console.log(is(FlowRequest, { call_id: "cs_1" })); // false: who calls whom is missing
 * ```
 */
export const FlowRequest: GenericSchema<unknown, FlowRequest> = looseObject(
  {
    call_id: text,
    account_id: text,
    from_number: text,
    to_number: text,
    direction: text,
    actions: optional(array(text)),
    digits: optional(text),
  },
  "is missing",
);

/** The call of the request. Further fields are kept. */
export interface FlowRequest {
  /** The id that `calls.create` gave. */
  readonly call_id: string;
  /** The account whose call it is. */
  readonly account_id: string;
  /** Who calls: E.164. */
  readonly from_number: string;
  /** Who is called: E.164. */
  readonly to_number: string;
  /** `"outbound"`. */
  readonly direction: string;
  /** The actions that the service has; without it, `play`, `stream`, `dial` and `hangup`. */
  readonly actions?: readonly string[] | undefined;
  /** After a `gather`: the keys that were pressed, or `""`. */
  readonly digits?: string | undefined;
  /** Further fields of the service. */
  readonly [field: string]: unknown;
}

const requestIn = (json: unknown): FlowRequest | undefined => {
  const { success, output } = safeParse(FlowRequest, json);
  return success ? output : undefined;
};

/** A request of the service whose sender was verified. */
export interface Answered {
  /** The call that was answered, or has come to its next step. */
  readonly call: FlowRequest;
  /** The context of the signed URL; `{}` when none was signed, or no `secret` was given. */
  readonly context: Context;
}

/** The options of `flowHandler`: the checks of `receive`, and what to decide. */
export type FlowOptions = Verification & {
  /**
   * Returns what the call does next, within 8 s of the request: the service waits 10 s. With `service` it has that
   * carrier's time: 12 s for Twilio.
   */
  readonly onAnswer: (answered: Answered) => Action | Promise<Action>;
  /**
   * Called with every refusal (`RefusedException`), with what `onAnswer` throws, with an action that
   * breaks a rule (`BadParametersException`), and with a `TimeoutError` for an action that comes too
   * late; and with the id of the call once that is known. What it throws itself is ignored, and its promise is not
   * awaited: the callee is waiting.
   *
   * @defaultValue `console.error` prints them with the id of the call, and the first refusal; then one refusal a minute,
   * with their count
   */
  readonly onError?: OnError | undefined;
};

const HandlerOptions = withChecks({
  onAnswer: custom<FlowOptions["onAnswer"]>(isFunction, functionRule),
  onError: hook<OnError>(),
});

/**
 * Makes a handler for `flow_url` from a function that decides. A request is verified as `receive` does
 * it; a sender that can't be verified gets no action. Every failure after that goes to `onError`, and the response is
 * `hangup`: the callee is waiting, and silence until a time-out is the worst response.
 *
 * | response | when |
 * |---|---|
 * | 200, the action | `onAnswer` returned one |
 * | 204 | a `HEAD` or `OPTIONS` came to a URL that `secret` signed; nothing is called |
 * | 200, `hangup` | it threw, returned something else, what `service` can't do, or nothing within 8 s of the request |
 * | 405, 413, 408, 400, 401, with `service` 503 too, and a sentence | the request is refused; the reasons are `RefusedException`'s |
 * | 500, with `service` 503 | the sender can't be verified: your `verify` threw or took that long, `service` has no secret now, or the body was read before. The service ends the call with an error |
 *
 * @param options - how to verify the sender, and what to decide
 * @returns a function from a request to its response; it never rejects
 * @throws {BadParametersException} (`placed: "no"`) at once, when an option breaks its rule, or no
 * check is given
 *
 * @example Decide what the call does
 * ```ts
 * import { signUrl } from "outdial/callbacks";
 * import { flowHandler, play } from "outdial/flows";
 *
 * const secret = crypto.randomUUID(); // In production: from the environment, the same in every process.
 * const handler = flowHandler({
 *   secret,
 *   onAnswer: ({ context }) => play(`https://app.test/hello-${context.language}.wav`),
 *   onError: console.error,
 * });
 *
 * // In a Worker: export default { fetch: handler }. In Deno: Deno.serve(handler). Here:
 * const url = await signUrl("https://app.test/flow", { secret, context: { language: "en" } });
 * const body = JSON.stringify({
 *   call_id: "cs_1",
 *   account_id: "acc_1",
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   direction: "outbound",
 * });
 * const response = await handler(new Request(url, { method: "POST", body }));
 * console.log(await response.text()); // {"action":"play","media_url":"https://app.test/hello-en.wav"}
 * ```
 */
export const flowHandler = (options: FlowOptions): ((request: Request) => Promise<Response>) => {
  const { onAnswer, onError, ...verification } = check(HandlerOptions, () => options, "options");
  requireCheck(verification);
  // Of the 10 s that the service waits, the way back takes some too.
  const {
    decodeFlow,
    flowTimeout = 8000,
    respond = respondJson,
  }: Partial<CarrierWebhooks> = verification.service?.application ?? {};
  return handlerOf({
    work: (request, { accept }) =>
      withinTime(flowTimeout, async (waiting) => {
        const { body, context } = await verified(request, verification, waiting);
        const decode = decodeFlow && ((text: string) => decodeFlow(text, request.url));
        const call = messageIn(body, requestIn, decode);
        accept(call.call_id);
        const decide = async () => {
          waiting.waitFor("onAnswer");
          const action = await onAnswer({ call, context });
          return check(Action, () => action, "action");
        };
        return respond(decide, { ...verification, request, call, context, pathIn });
      }),
    // Who isn't verified gets no action, but the status that `callbackHandler` answers: so the mistake shows.
    failed: (isAccepted) =>
      isAccepted
        ? respond(hangup)
        : new Response(null, { status: verification.service ? 503 : 500 }),
    onError,
    name: "flowHandler",
    checks: verification,
  });
};
