import { custom } from "valibot";
import type { Context } from "../callbacks/url/token.ts";
import { guard, type OnError } from "../callbacks/verify/guard.ts";
import { lateAnswer } from "../callbacks/verify/limit.ts";
import { messageIn } from "../callbacks/verify/message.ts";
import {
  functionRule,
  hook,
  open,
  requireACheck,
  type Verification,
  withChecks,
} from "../callbacks/verify/verification.ts";
import { check } from "../rules/check.ts";
import { isFunction } from "../rules/kind.ts";
import { Action } from "./action.ts";
import { FlowRequest } from "./request.ts";

/** A request of the service that proved where it comes from. */
export interface Answered {
  /** The call that was answered, or has come to its next step. */
  readonly call: FlowRequest;
  /** What the signed URL carried; `{}` when none was signed, or no `secret` was given. */
  readonly context: Context;
}

/** What `flowHandler` takes: the checks of `receive`, and what to decide. */
export type FlowOptions = Verification & {
  /** Decides what the call does next, within 8 s of the request: the service waits 10. */
  readonly onAnswer: (answered: Answered) => Action | Promise<Action>;
  /**
   * Hears of every refusal (`RefusedException`), of what `onAnswer` throws, of an action that breaks a
   * rule (`BadParametersException`), and of an answer that comes too late (`TimeoutError`). What it
   * throws itself is ignored, and a promise of it isn't waited for: a person is on the line.
   */
  readonly onError?: OnError | undefined;
};

const Options = /* @__PURE__ */ withChecks({
  onAnswer: /* @__PURE__ */ custom<FlowOptions["onAnswer"]>(isFunction, functionRule),
  onError: /* @__PURE__ */ hook<OnError>(),
});

/** The most that an answer may take from the request on, in milliseconds: the way back takes time too. */
const longest = 8000;

const answer = (action: Action): Response =>
  new Response(JSON.stringify(action), { headers: { "Content-Type": "application/json" } });

/**
 * Makes a handler for `flow_url` out of a function that decides. A request is verified as `receive`
 * does it. Whatever goes wrong after that is told to `onError` and answered with `hangup`: a person is
 * on the line, and silence until a timeout is the worst answer.
 *
 * | answer | when |
 * |---|---|
 * | 200, the action | `onAnswer` gave one |
 * | 200, `hangup` | it threw, gave something else, or nothing within 8 s of the request; or your `verify` threw or took that long |
 * | 405, 413, 408, 400, 401 | the request is refused; the reasons are `RefusedException`'s |
 *
 * @param options - how to know the service, and what to decide
 * @returns a function from a request to its answer; it never rejects
 * @throws {BadParametersException} (`placed: "no"`) at once, when an option breaks its rule, or no
 * check is given
 *
 * @example Decide what the call does
 * ```ts
 * import { signUrl } from "outdial/callbacks";
 * import { flowHandler, play } from "outdial/flows";
 *
 * const secret = "a secret that was made at random";
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
  const { onAnswer, onError, ...verification } = check(Options, () => options);
  requireACheck(verification);
  return guard({
    longest,
    read: async (request, limit) => {
      const { body, context } = await open(request, verification, limit);
      return { call: messageIn(body, FlowRequest), context };
    },
    act: async (answered, { limit }) => {
      const action = await limit(onAnswer(answered), lateAnswer("onAnswer"));
      return answer(check(Action, () => action));
    },
    failed: () => answer({ action: "hangup" }),
    onError,
  });
};
