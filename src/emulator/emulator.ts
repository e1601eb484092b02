import { check } from "../check.ts";
import { Account } from "./account.ts";
import { apiRoutes } from "./api.ts";
import { type EmulatorOptions, EmulatorSettingsSchema } from "./options.ts";
import { randomSource, ulid } from "./random.ts";

/** A running emulator. */
export interface Emulator {
  /** The account's key as it is now. */
  readonly apiKey: string;
  /**
   * The service: answers a request as `fetch` does. It needs no `this`, and any origin is its own.
   *
   * @throws the signal's reason once the request's signal has aborted
   * @throws {TypeError} when the number called drops the connection (`+12025550114`)
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
}

/**
 * Starts the service in this process, for development and tests.
 *
 * @throws {BadParametersException} when an option breaks its rule
 *
 * @example Place a call without a network
 * ```ts
 * import { Client } from "outdial";
 * import { createEmulator } from "outdial/emulator";
 *
 * const { apiKey, fetch } = createEmulator();
 * const client = new Client(apiKey, { baseUrl: "https://emulator.test", fetch });
 * const call = await client.calls.create({
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 * });
 * console.log(call.id); // cs_…
 * ```
 * @see contract.md
 */
export const createEmulator = (options: EmulatorOptions = {}): Emulator => {
  const { apiKey, numbers } = check(EmulatorSettingsSchema, () => options);
  const account = new Account(apiKey, numbers);
  const random = randomSource();
  const app = apiRoutes({ account, accept: () => `cs_${ulid(Date.now(), random)}` });
  return {
    get apiKey() {
      return account.key;
    },
    fetch: async (input, init) => {
      const given = input instanceof Request ? input : undefined;
      const signal = init?.signal ?? given?.signal;
      signal?.throwIfAborted();
      const request = given && !init ? given : new Request(input, { ...init, signal: null });
      return app.fetch(request, { signal });
    },
  };
};
