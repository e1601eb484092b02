import { pathIn, type Secret, secretRule, secretsOf } from "../callbacks/signed-url.ts";
import { check, fail, isText, withoutThrowing } from "../lib/check.ts";
import { maxUrl, routeOf } from "../lib/url.ts";
import type { Service } from "../service.ts";
import {
  type BasicAction,
  basicSchemas,
  type Dial,
  type Hangup,
  type Play,
  type Stream,
} from "./actions.ts";
import { byAction } from "./by-action.ts";
import { signOwnUrl } from "./continuation.ts";
import type { FlowState } from "./flow-state.ts";
import { seal } from "./sealed-state.ts";

/** The options of `actionUrl`. */
export interface ActionUrlOptions {
  /** The secret of `flowHandler`; of a list the first seals. */
  readonly secret: Secret;
  /** The id of the call that `calls.create` gave: in another call the URL is refused. */
  readonly call_id: string;
  /** What the call does next: a `dial`, `play`, `stream` or `hangup`. */
  readonly action: Play | Stream | Dial | Hangup;
  /** The carrier, as `flowHandler` has it. */
  readonly service?: Service | undefined;
}

/**
 * Makes a URL at which `flowHandler` answers with an action, in any process that has the secret: for a live call that
 * continues there by `redirect`, such as one that an agent transfers. The action is encrypted, as a URL is seen by many.
 *
 * @param flow_url - the URL of the flow, without a signature
 * @param options - the secret, the call and the action
 * @returns the signed URL, valid for a day
 * @throws {BadParametersException} (the promise rejects, `placed: "no"`) when a rule is broken
 *
 * @example Transfer a live call
 * ```ts
 * import { redirect } from "outdial/calls";
 * import { actionUrl, dial } from "outdial/flows";
 * import { twilio } from "outdial/twilio";
 *
 * const secret = crypto.randomUUID(); // In production: from the environment, the same in every process.
 * const service = twilio({ accountSid: "AC00000000000000000000000000000000" });
 * const fetch = async () => Response.json({ sid: "CA1", status: "in-progress" });
 * const call = { id: "CA1", from_number: "+12025550199", to_number: "+12025550100" };
 * const action = dial("+12025550123", { timeout: 20 });
 * const url = await actionUrl("https://app.test/flow", { secret, call_id: call.id, action, service });
 * await redirect(call, url, { service, apiKey: "the auth token", fetch });
 * ```
 * @see docs/flows.md
 */
export const actionUrl = async (flow_url: string, options: ActionUrlOptions): Promise<string> => {
  const { secret, call_id, action: given, service } = withoutThrowing(() => ({ ...options })) ?? {};
  const [first] = withoutThrowing(() => secretsOf(secret)) ?? [];
  if (!first) return fail("secret", secretRule);
  if (!isText(call_id) || !call_id) return fail("call_id", "must be the id of the call");
  if (!routeOf(flow_url)) return fail("flow_url", "must be https, or http on loopback");
  const action = check(
    byAction<BasicAction>(basicSchemas, "must be a dial, play, stream or hangup"),
    () => given,
    "action",
  );
  const state: FlowState = {
    of: [service?.name ?? "", undefined, call_id],
    at: "",
    attempt: 1,
    context: {},
    answers: {},
    action,
  };
  // It goes where the flow_url of a call goes.
  const most = Math.min(maxUrl, service?.application.maxUrl ?? maxUrl);
  const input = { request: new Request(flow_url), secret: first, pathIn, maxUrl: most };
  return signOwnUrl(input, "flow_url", "", (bound, key) => seal(state, key, bound));
};
