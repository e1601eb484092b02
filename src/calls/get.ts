import { ServiceException } from "../errors.ts";
import { fieldsOf, withoutThrowing } from "../lib/check.ts";
import { isOfCall, type LiveCall } from "./call.ts";
import { checkId, type Live, type OptionsOrClient, runLive } from "./live.ts";

/** Reads a call, as part of a function about it. */
export const readCall = async (
  { service, settings, progress, ask }: Live,
  id: string,
): Promise<LiveCall> => {
  const { raw, call } = await ask(service.get(id, settings.baseUrl), {
    lacks: "this call: what has answered may be another service",
    read: async (_, json) => {
      const body = fieldsOf(await json());
      // A field may be anything: what can't be read is no call.
      const found = withoutThrowing(() => service.read(body));
      return found && isOfCall(found.id, id) ? { raw: body, call: found } : undefined;
    },
  });
  const { state } = call;
  if (!state) throw new ServiceException("The state of the call is unknown here", progress.facts);
  return { ...call, state, raw };
};

/**
 * Reads a call as the service knows it at this moment. It may be repeated. What a carrier says here may be a second or
 * more behind its notifications.
 *
 * @param id - what `calls.create` gave: the `call_id` of its notifications
 * @param options - a client, or options as `create` takes them, with the whole service: `twilio({ … })`, not `twilioCalls({ … })`. Telnyx
 * also needs `accountSid`
 * @throws {BadParametersException} before any request: a rule is broken
 * @throws {ServiceException} any response but a call: 404 for an unknown id
 * @throws {TimeoutException} the deadline passed
 * @throws {NetworkException} the connection failed. None of the exceptions has `placed`
 * @throws the reason of `options.signal`, when that aborts
 *
 * @example Read a call that is over
 * ```ts
 * import { create, get } from "outdial/calls";
 * import { createEmulator } from "outdial/emulator";
 *
 * const emulator = createEmulator({ clock: "instant", fetch: () => Response.json({ action: "hangup" }) });
 * const options = { apiKey: emulator.apiKey, baseUrl: "https://emulator.test", fetch: emulator.fetch };
 * const { id } = await create(
 *   {
 *     from_number: "+12025550199",
 *     to_number: "+12025550100",
 *     flow_url: "https://app.test/flow",
 *     status_callback_url: "https://app.test/status",
 *   },
 *   options,
 * );
 * await emulator.ended(id);
 * const { state, reason, duration } = await get(id, options);
 * console.log(state, reason, duration); // completed normal 0
 * ```
 * @see docs/errors.md
 */
export const get = (id: string, options: OptionsOrClient): Promise<LiveCall> =>
  runLive(options, () => {
    const checked = checkId(id);
    return { texts: [checked], run: (live) => readCall(live, checked) };
  });
