import type { Effect } from "../errors.ts";
import { check, fail, fieldsOf, withoutThrowing } from "../lib/check.ts";
import { isLoopback } from "../lib/url.ts";
import type { RedirectedCall } from "../service.ts";
import { checkId, done, type Live, type OptionsOrClient, runLive } from "./live.ts";
import { CallParams } from "./params.ts";

const effect: Effect = {
  no: "the call was not redirected",
  maybe: "the call may have been redirected",
};

/** @throws {BadParametersException} that names the field and its rule */
const checkCall = (call: unknown, flow_url: unknown): RedirectedCall & { flow_url: string } => {
  const { id, from_number, to_number } = withoutThrowing(() => ({ ...fieldsOf(call) })) ?? {};
  // The rules of a new call's fields.
  const given = { from_number, to_number, flow_url };
  const { flow_url: url = fail("flow_url", "is missing"), ...numbers } = check(
    CallParams,
    () => given,
  );
  return { ...numbers, flow_url: url, id: checkId(id) };
};

/**
 * Makes an answered call continue at another flow URL: what the carrier performs is cut off, and it requests `flow_url`
 * as it did after the answer. It may be repeated. Outdial's own interface can't do it, and is refused.
 *
 * @param call - the id that `calls.create` gave, and its numbers: Vonage's request for the flow has no others
 * @param flow_url - where the carrier asks what to do, by the rules of `create`; sign it with `signUrl`
 * @param options - a client, or options as `create` takes them, with the whole service: `twilio({ … })`, not `twilioCalls({ … })`. Telnyx
 * also needs `accountSid`
 * @returns once the carrier has accepted it
 * @throws {BadParametersException} before any request: a rule is broken, or the service can't redirect
 * @throws {ServiceException} the carrier refused: the call is not answered, or over
 * @throws {TimeoutException} the deadline passed
 * @throws {NetworkException} the connection failed. None of the exceptions has `placed`: their messages say whether the
 * call may have been redirected
 * @throws the reason of `options.signal`, when that aborts
 *
 * @example Leave a message once a machine's greeting is over
 * ```ts
 * import { redirect } from "outdial/calls";
 * import { twilio } from "outdial/twilio";
 *
 * const service = twilio({ accountSid: "AC00000000000000000000000000000000" });
 * const fetch = async () => Response.json({ sid: "CA1", status: "in-progress" });
 * const call = { id: "CA1", from_number: "+12025550199", to_number: "+12025550100" };
 * const options = { apiKey: "the auth token", service, fetch };
 * await redirect(call, "https://app.test/message", options);
 * ```
 * @see docs/errors.md
 */
export const redirect = (
  call: RedirectedCall,
  flow_url: string,
  options: OptionsOrClient,
): Promise<void> =>
  runLive(options, ({ baseUrl }) => {
    const { flow_url: url, ...checked } = checkCall(call, flow_url);
    if (/^http:/i.test(url) && !isLoopback(baseUrl)) {
      fail("flow_url", "must be https, as baseUrl is remote");
    }
    const run = async ({ service, ask }: Live): Promise<void> => {
      const request = service.redirect(checked, url, baseUrl);
      await ask(request, done);
    };
    const { id, from_number, to_number } = checked;
    return { effect, texts: [id, url], numbers: [from_number, to_number], run };
  });
