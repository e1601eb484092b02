import type { Call } from "./calls/call.ts";
import { type Memory, place } from "./calls/create.ts";
import type { CallParams } from "./calls/params.ts";
import type { Send } from "./http/post.ts";
import { fail } from "./lib/check.ts";
import {
  type ApiKey,
  type CallOptions,
  type Endpoint,
  keepClient,
  type Options,
  type Settings,
  settingsOf,
} from "./options.ts";

/** The options of a client: those of a call, without the keys. */
export type ClientOptions = Omit<CallOptions, "apiKey" | "idempotencyKey"> & Endpoint;

/** The only resource manager of a client. */
export interface Calls {
  /**
   * Places a call, as `calls.create` does, with the client's options. An option given here replaces
   * the client's for this call, but not `service`: another carrier needs a client of its own.
   *
   * @throws what `calls.create` throws, and {BadParametersException} (`placed: "no"`) once the client
   * was disposed of
   */
  readonly create: (params: CallParams, options?: Partial<Options>) => Promise<Call>;
}

const withoutUndefined = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** What both `Client` classes have in common. */
export abstract class CallsClient {
  /** The calls of the account. */
  readonly calls: Calls;
  readonly #inFlight = new Set<Promise<unknown>>();
  #disposed = false;

  /**
   * Checks the options, and keeps them.
   *
   * @param send - through ky, or straight on `fetch`
   * @param apiKey - the account's key, or a function that returns it
   * @param options - kept for every call; `baseUrl` is required
   */
  protected constructor(send: Send, apiKey: ApiKey, options: ClientOptions) {
    const memory: Memory = {};
    const kept = settingsOf(() => ({ ...options, apiKey }));
    if (kept.idempotencyKey) fail("idempotencyKey", "must be an option of one call");
    const settings = (): Settings => {
      if (this.#disposed) fail("client", "was disposed of");
      return kept;
    };
    keepClient(this, settings);
    const create: Calls["create"] = (params, own) => {
      const settingsOfCall = (): Settings => {
        settings();
        // The client's key and URL are for its own carrier.
        if (own?.service && own.service !== kept.service) fail("service", "must be the client's");
        return own ? settingsOf(() => ({ ...kept, ...withoutUndefined(own) })) : kept;
      };
      const call = place(params, settingsOfCall, memory, send);
      const settle = () => this.#inFlight.delete(call);
      this.#inFlight.add(call);
      call.then(settle, settle);
      return call;
    };
    this.calls = { create };
  }

  /** Refuses every further call. */
  [Symbol.dispose](): void {
    this.#disposed = true;
  }

  /** Refuses every further call, and waits until those in flight have settled. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await Promise.allSettled(this.#inFlight);
  }
}
