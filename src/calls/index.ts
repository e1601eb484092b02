/**
 * The calls of an account: place, read, end and redirect them, press keys in them, and fetch their recordings.
 *
 * {@link create} is `calls.create` of `outdial`, for a bundle that needs nothing else. {@link get}, {@link ended},
 * {@link end}, {@link redirect}, {@link recording} and {@link why} are about a call that was placed: they take a client or the same options,
 * with the whole service, and a bundle that doesn't import them has nothing of them. {@link CallParams} and {@link Call} are valibot schemas
 * and types: they check what a form or another service gives you before you place a call.
 *
 * @see docs/options.md
 *
 * @module
 */
import { throughKy } from "../http/ky.ts";
import type { Options } from "../options.ts";
import type { Call } from "./call.ts";
import { creator } from "./create.ts";
import type { CallParams } from "./params.ts";

/**
 * Places a call: one POST, and a second only where the first can't have placed anything (see
 * `Options`: `path`, `apiKey`, `retries`), or with the same `Idempotency-Key` (`idempotent`).
 *
 * @param params - who calls whom, and the URLs of the call flow and of the status notifications
 * @param options - the key, the service and how to reach it
 * @returns the call: its `id`, and whatever else the service sent
 * @throws {BadParametersException} before any request (`placed: "no"`): a rule is broken
 * @throws {UnauthorizedException} 401 (`"no"`)
 * @throws {ForbiddenException} 403 (`"no"`): the key, or a `from_number` that is not the account's
 * @throws {TimeoutException} the deadline passed (`"maybe"`; `"no"` before anything was sent, and
 * after the head of a refusal)
 * @throws {NetworkException} never connected (`"no"`), or connection lost (`"maybe"`)
 * @throws {ServiceException} any other response: 307, 308 and most 4xx (`"no"`); other redirects, 408,
 * 409, 425, 499, 5xx and a 2xx without a call id (`"maybe"`)
 * @throws the reason of `options.signal`, when that aborts
 *
 * @example Place a call
 * ```ts
 * import { calls } from "outdial";
 * import { createEmulator } from "outdial/emulator";
 *
 * const { apiKey, fetch } = createEmulator({ clock: "instant", fetch: () => new Response() });
 * const call = await calls.create(
 *   {
 *     from_number: "+12025550199",
 *     to_number: "+12025550100",
 *     flow_url: "https://app.test/flow",
 *     status_callback_url: "https://app.test/status",
 *   },
 *   { apiKey, baseUrl: "https://emulator.test", fetch },
 * );
 * console.log(call.id); // cs_…
 * ```
 * @see docs/errors.md
 */
export const create: (params: CallParams, options: Options) => Promise<Call> =
  /* @__PURE__ */ creator(throughKy);

export type { ServiceUrl } from "../options.ts";
export type {
  CarrierLive,
  CauseArea,
  CauseList,
  ListedCause,
  LiveRefusal,
  LiveRequest,
  RecordingList,
  RedirectedCall,
} from "../service.ts";
export type { LiveCall, LiveState } from "./call.ts";
export { Call } from "./call.ts";
export { end } from "./end.ts";
export { type EndedOptions, ended } from "./ended.ts";
export { get } from "./get.ts";
export type { LiveEndpoint, LiveOptions, OptionsOrClient } from "./live.ts";
export {
  type CallAtUrls,
  type CallFields,
  type CallFlow,
  CallParams,
  type FlowAtUrl,
  type FlowInRequest,
} from "./params.ts";
export { press } from "./press.ts";
export { type RecordingOptions, recording } from "./recording.ts";
export { redirect } from "./redirect.ts";
export { type Cause, type Why, why } from "./why.ts";
