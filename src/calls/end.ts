import { type Effect, ServiceException } from "../errors.ts";
import { readCall } from "./get.ts";
import { checkId, done, type Live, type OptionsOrClient, runLive } from "./live.ts";

const effect: Effect = { no: "the call was not ended", maybe: "the call may have been ended" };

/** Whether a refusal is for another reason than the state of the call: the key, or too many requests. */
const isUnrelated = (code = 0): boolean =>
  [401, 403, 429].includes(code) || code < 400 || code > 499;

/** Whether a call is over whose end was refused. */
const isOver = async (live: Live, id: string, refusal: ServiceException): Promise<boolean> => {
  if (live.service.hasEnded(refusal)) return true;
  if (isUnrelated(refusal.code)) return false;
  // What says most is why the end was refused, also where the call can't be read.
  const call = await readCall(live, id).catch(() => undefined);
  return call?.state === "completed" || call?.state === "failed";
};

/**
 * Ends a call, also one that still rings. It may be repeated: it resolves for a call that has ended already. Where the
 * service refuses, the call is read, and only one that is over counts as ended.
 *
 * @param id - what `calls.create` gave: the `call_id` of its notifications
 * @param options - a client, or options as `create` takes them, with the whole service: `twilio({ … })`, not `twilioCalls({ … })`
 * @returns once the service has accepted it. The final notification comes as for every call
 * @throws {BadParametersException} before any request: a rule is broken
 * @throws {ServiceException} the service refused, and the call is not over: 404 for an unknown id
 * @throws {TimeoutException} the deadline passed
 * @throws {NetworkException} the connection failed. None of the exceptions has `placed`: their messages say whether the
 * call may have been ended
 * @throws the reason of `options.signal`, when that aborts
 *
 * @example Stop ringing when the order was cancelled
 * ```ts
 * import { create, end } from "outdial/calls";
 * import { createEmulator } from "outdial/emulator";
 *
 * const app = async () => new Response(null, { status: 204 });
 * await using emulator = createEmulator({ fetch: app });
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
 * await end(id, options);
 * console.log((await emulator.ended(id)).reason); // canceled
 * await end(id, options); // It has ended: nothing is thrown.
 * ```
 * @see docs/errors.md
 */
export const end = (id: string, options: OptionsOrClient): Promise<void> =>
  runLive(options, ({ baseUrl }) => {
    const checked = checkId(id);
    const run = async (live: Live): Promise<void> => {
      const request = live.service.end(checked, baseUrl);
      try {
        await live.ask(request, done);
      } catch (error) {
        if (error instanceof ServiceException && (await isOver(live, checked, error))) return;
        throw error;
      }
    };
    return { effect, texts: [checked], run };
  });
