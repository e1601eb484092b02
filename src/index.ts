/**
 * Places outbound voice calls over an HTTP API from any JavaScript runtime.
 *
 * {@link calls} places a call with the options that you pass; a {@link Client} keeps them. A request that may have reached a
 * telephone is never repeated: every exception of `create` has `placed`, which is `"no"` or `"maybe"`. The key is in one request header, and
 * never in a URL, a log or an error. One deadline covers the whole call. It sends through ky; `outdial/fetch` has the same
 * exports without ky.
 *
 * The other entries receive notifications (`outdial/callbacks`), decide what an answered call does (`outdial/flows`), connect
 * voice agents (`outdial/agents`), call lists (`outdial/campaigns`), are Twilio, Vonage and Telnyx (`outdial/twilio`,
 * `outdial/vonage`, `outdial/telnyx`), and are the service itself for tests (`outdial/emulator`).
 *
 * @example Place a call on the emulator
 * ```ts
 * import { calls, isException } from "outdial";
 * import { createEmulator } from "outdial/emulator";
 *
 * // With a real service, `apiKey` and `baseUrl` are those of your account, and there is no `fetch`.
 * const { apiKey, fetch } = createEmulator({ clock: "instant", fetch: () => new Response() });
 * try {
 *   const call = await calls.create(
 *     {
 *       from_number: "+12025550199",
 *       to_number: "+12025550100",
 *       flow_url: "https://app.example/flow",
 *       status_callback_url: "https://app.example/status",
 *     },
 *     { apiKey, baseUrl: "https://voice.example", fetch },
 *   );
 *   console.log(call.id); // cs_…
 * } catch (error) {
 *   if (!isException(error)) throw error;
 *   console.error(error.name, error.placed); // "maybe": do not repeat it
 * }
 * ```
 * @see docs/entries.md
 *
 * @module
 */
import { create } from "./calls/index.ts";
import { CallsClient, type ClientOptions } from "./client.ts";
import { throughKy } from "./http/ky.ts";
import type { ApiKey } from "./options.ts";

export * from "./exports.ts";

/** The calls of an account, without a client: `calls.create(params, options)`. */
export const calls: {
  /**
   * Places a call: one POST, and a second only where the first can't have placed anything, or with the same
   * `Idempotency-Key` at a service that keeps keys.
   *
   * @param params - who calls whom, and the URLs of the call flow and of the status notifications
   * @param options - `apiKey` and `baseUrl` are required
   * @returns the call: its `id`, and whatever else the service sent
   * @throws {ServiceException} and what extends it; `placed` says whether a telephone may have rung
   * @throws the reason of `options.signal`, when that aborts
   */
  readonly create: typeof create;
} = { create };

/**
 * Keeps the options of `calls.create`, and remembers which of the two paths answered. It needs no
 * clean-up; `using` refuses calls after the block, and `await using` also waits for those in flight.
 *
 * @example A client for one account
 * ```ts
 * import { Client } from "outdial";
 * import { createEmulator } from "outdial/emulator";
 *
 * const { apiKey, fetch } = createEmulator({ clock: "instant", fetch: () => new Response() });
 * await using client = new Client(apiKey, { baseUrl: "https://emulator.test", fetch });
 * const call = await client.calls.create({
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 * });
 * console.log(call.id); // cs_…
 * ```
 */
export class Client extends CallsClient {
  /**
   * Checks the options, and keeps them.
   *
   * @param apiKey - the account's key, or a function that returns it
   * @param options - kept for every call; `baseUrl` is required
   * @throws {BadParametersException} (`placed: "no"`) when the key or an option breaks its rule, and
   * in a web page
   */
  constructor(apiKey: ApiKey, options: ClientOptions) {
    super(throughKy, apiKey, options);
  }
}
