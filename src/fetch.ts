/**
 * Places outbound voice calls over an HTTP API from any JavaScript runtime, straight on the platform's `fetch`.
 *
 * The functions, types, exceptions and promises are those of `outdial`, without ky: half the size, and less than half of the
 * processor time. Take it on Cloudflare Workers, in edge functions and in browser extensions.
 *
 * @see docs/entries.md
 *
 * @module
 */
import { creator } from "./calls/create.ts";
import { CallsClient, type ClientOptions } from "./client.ts";
import type { Call, CallParams } from "./exports.ts";
import { straight } from "./http/post.ts";
import type { ApiKey, Options } from "./options.ts";

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
  readonly create: (params: CallParams, options: Options) => Promise<Call>;
} = { create: creator(straight) };

/**
 * Keeps the options of `calls.create`, and remembers which of the two paths answered. It needs no
 * clean-up; `using` refuses calls after the block, and `await using` also waits for those in flight.
 *
 * @example A client for one account
 * ```ts
 * import { Client } from "outdial/fetch";
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
    super(straight, apiKey, options);
  }
}
