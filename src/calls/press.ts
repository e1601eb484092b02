import type { Effect } from "../errors.ts";
import { fail, isText } from "../lib/check.ts";
import type { CarrierLive } from "../service.ts";
import { checkId, done, type Live, type OptionsOrClient, runLive } from "./live.ts";

const effect: Effect = { no: "no key was pressed", maybe: "the keys may have been pressed" };

const checkKeys = (keys: unknown): string =>
  isText(keys) && /^[\dA-D*#w]{1,32}$/.test(keys)
    ? keys
    : fail("keys", "must be 1 to 32 of 0-9, A-D, *, # and w");

/** The request of outdial's own interface: at the path at which a call is ended. */
const ownPress =
  ({ end }: CarrierLive): NonNullable<CarrierLive["press"]> =>
  (id, digits, baseUrl) => {
    if (!/^[\d*#]+$/.test(digits)) fail("keys", "must be 0-9, * and # on this interface");
    const { url, otherUrl, ...request } = end(id, baseUrl);
    const at = (path: string) => path.replace(/hangup$/, "dtmf");
    return {
      ...request,
      url: at(url),
      ...(otherUrl && { otherUrl: at(otherUrl) }),
      type: "application/json",
      body: JSON.stringify({ digits }),
    };
  };

/**
 * Presses keys in an answered call, for the callee's side to hear, such as a menu: with Vonage, and outdial's own
 * interface. Twilio has no such request for a live call, and Telnyx documents none for TeXML: they are refused.
 *
 * @param id - what `calls.create` gave: with Vonage the callee's leg
 * @param keys - 1 to 32 of 0-9, `*`, `#` and `w`, which waits for half a second; outdial's own interface has no `w`
 * @param options - a client, or options as `create` takes them, with the whole service: `vonage({ … })`, not `vonageCalls({ … })`
 * @returns once the service has accepted it. It is not repeated where it may have been accepted
 * @throws {BadParametersException} before any request: a rule is broken, or the service can't do it
 * @throws {ServiceException} the service refused: the call is not answered, or over
 * @throws {TimeoutException} the deadline passed
 * @throws {NetworkException} the connection failed. None of the exceptions has `placed`: their messages say whether the
 * keys may have been pressed
 * @throws the reason of `options.signal`, when that aborts
 *
 * @example Let an agent press keys
 * ```ts
 * import { connectAgent, openaiRealtime, pressKeys } from "outdial/agents";
 * import { press } from "outdial/calls";
 * import type { MediaSocket } from "outdial/flows";
 * import { vonage } from "outdial/vonage";
 *
 * const service = vonage({ applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf" });
 * const apiKey = async () => "the PEM, from a secrets manager";
 * const agent = openaiRealtime({ apiKey: "sk-key", tools: { press_keys: pressKeys() } });
 * const serve = (socket: MediaSocket) =>
 *   connectAgent(socket, agent, {
 *     service,
 *     press: (keys, { call_id }) => press(call_id, keys, { service, apiKey }),
 *   });
 * console.log(typeof serve); // function
 * ```
 * @see docs/errors.md
 */
export const press = (id: string, keys: string, options: OptionsOrClient): Promise<void> =>
  runLive(options, ({ baseUrl }) => {
    const [call, pressed] = [checkId(id), checkKeys(keys)];
    const run = async ({ service, settings, ask }: Live): Promise<void> => {
      const request = settings.service ? service.press : ownPress(service);
      if (!request) return fail("service", "must be Vonage, or outdial's own interface");
      await ask(request(call, pressed, baseUrl), done);
    };
    return { effect, texts: [call], run };
  });
