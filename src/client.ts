import type { Call } from "./calls/call.ts";
import type { CallParams } from "./calls/params.ts";
import { type Memory, place } from "./calls/place.ts";
import { type ApiKey, type Options, settingsOf } from "./options.ts";
import type { Send } from "./request/send/send.ts";
import { refuse } from "./rules/refuse.ts";

/** The options of a client: those of a call, without the key. */
export type ClientOptions = Omit<Options, "apiKey">;

/** The only resource manager of a client. */
export interface Calls {
  /**
   * Places a call, as `calls.create` does, with the client's options. An option given here replaces
   * the client's for this call.
   *
   * @throws what `calls.create` throws, and {BadParametersException} (`placed: "no"`) once the client
   * was disposed of
   */
  readonly create: (params: CallParams, options?: Partial<Options>) => Promise<Call>;
}

const withoutUndefined = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** What every `Client` is, whatever it sends through. */
export abstract class CallsClient {
  /** The calls of the account. */
  readonly calls: Calls;
  readonly #inFlight = new Set<Promise<unknown>>();
  #disposed = false;

  /**
   * Checks the options, and keeps them.
   *
   * @param send - through ky, or straight
   * @param apiKey - the account's key, or a function that gives it
   * @param options - kept for every call; `baseUrl` is required
   */
  protected constructor(send: Send, apiKey: ApiKey, options: ClientOptions) {
    const memory: Memory = {};
    const kept = settingsOf(options, { apiKey });
    const create: Calls["create"] = async (params, own) => {
      if (this.#disposed) {
        refuse("client", "was disposed of");
      }
      const settings = own ? settingsOf(kept, withoutUndefined(own)) : kept;
      const call = place(params, settings, memory, send);
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

  /** Refuses every further call, and waits for those in flight to end, one way or the other. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await Promise.allSettled(this.#inFlight);
  }
}
