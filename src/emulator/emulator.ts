import { check } from "../rules/check.ts";
import { isLoopback } from "../rules/url.ts";
import { Account } from "./api/account.ts";
import { apiRoutes } from "./api/api.ts";
import { SignedRecordings } from "./api/signed.ts";
import { Call } from "./line/call.ts";
import { Calls } from "./line/calls.ts";
import { instantClock } from "./line/clock/instant-clock.ts";
import { realClock } from "./line/clock/real-clock.ts";
import type { EmulatorEvent } from "./line/history.ts";
import { Journal } from "./line/journal.ts";
import type { CallRecord } from "./line/record.ts";
import { Notifier } from "./notify/notifier.ts";
import { randomSecret, signer } from "./notify/signature.ts";
import type { EmulatorOptions } from "./options.ts";
import { asker } from "./outgoing.ts";
import { idSource, randomSource } from "./random.ts";
import { audioOf, type CallAudio } from "./recording/audio.ts";
import { run } from "./run.ts";
import { EmulatorSettingsSchema, urlOf } from "./settings.ts";

/** A running emulator. It is iterable: `for await` gives everything that happens from then on. */
export interface Emulator extends AsyncIterable<EmulatorEvent> {
  /** The account's key as it is now. */
  readonly apiKey: string;
  /** The account's id. */
  readonly accountId: string;
  /** What the notifications are signed with. */
  readonly webhookSecret: string;
  /**
   * The service: answers a request as `fetch` does. It needs no `this`, and any origin is its own.
   *
   * @throws the signal's reason once the request's signal has aborted
   * @throws {TypeError} when the number called drops the connection (`+12025550114`)
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** All calls that are known, the oldest first. */
  readonly calls: readonly CallRecord[];
  /**
   * How many requests for a call came for each number that was to be called: those too that an outage
   * refused (`+12025550110`, `+12025550111`), but none with a wrong key or field. Until `reset`.
   */
  readonly posts: ReadonlyMap<string, number>;
  /** A call as it is now, if it is known. */
  readonly call: (id: string) => CallRecord | undefined;
  /** What has been heard in a call so far, if it is known. */
  readonly audio: (id: string) => CallAudio | undefined;
  /**
   * Waits until nothing more will happen to a call: it is over, and every notification has arrived
   * or is given up.
   *
   * @returns the whole history
   * @throws {BadParametersException} when no such call is known
   */
  readonly ended: (id: string) => Promise<CallRecord>;
  /**
   * Picks up the telephone that rings.
   *
   * @returns whether it rang
   */
  readonly answer: (id: string) => boolean;
  /**
   * Rejects a call that is not answered yet.
   *
   * @returns whether there was one
   */
  readonly reject: (id: string) => boolean;
  /**
   * Ends a call: an answered one completes, one that is not answered yet fails as `canceled`.
   *
   * @returns whether there was one
   */
  readonly hangup: (id: string) => boolean;
  /** Issues a new key, and gives it; the old one is invalid from this moment on. */
  readonly regenerateKey: () => string;
  /** Forgets every call at once: nothing more happens in them, and nobody is notified. */
  readonly reset: () => void;
  /**
   * Takes no more calls, hangs up those that go on, and waits for their notifications. Then every
   * loop over the emulator ends, and nothing of it keeps a process alive.
   */
  readonly close: () => Promise<void>;
  /** The same as `close`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Starts the service in this process, for development and tests.
 *
 * @throws {BadParametersException} when an option breaks its rule
 *
 * @example A call from the request to its last notification, without a network
 * ```ts
 * import { Client } from "outdial";
 * import { createEmulator } from "outdial/emulator";
 *
 * const app = (request: Request): Response =>
 *   new URL(request.url).pathname === "/flow"
 *     ? Response.json({ action: "hangup" })
 *     : new Response(null, { status: 204 });
 *
 * await using emulator = createEmulator({ fetch: app, clock: "instant" });
 * const { apiKey, fetch } = emulator;
 * const client = new Client(apiKey, { baseUrl: "https://emulator.test", fetch });
 * const call = await client.calls.create({
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 * });
 * const { state, reason, history } = await emulator.ended(call.id);
 * console.log(state, reason, history.length); // completed normal 11
 * ```
 * @see docs/emulator.md
 */
export const createEmulator = (options: EmulatorOptions = {}): Emulator => {
  const settings = check(EmulatorSettingsSchema, () => options);
  const { apiKey, numbers, webhookSecret = randomSecret(), fetch: send, respondWithin } = settings;
  const { notifications: mishaps } = settings;
  const account = new Account(apiKey, numbers);
  const recordings = new SignedRecordings();
  // Where requests say that they came in is their own word, so a server says where it really is.
  const { host } = settings;
  const isLocal = (url: string): boolean => isLoopback(host === undefined ? url : urlOf(host));
  const random = randomSource(settings.seed);
  const clock = settings.clock === "instant" ? instantClock : realClock(settings.speed);
  const newId = idSource(random, settings.seed !== undefined);
  const accountId = `ac_${newId(Date.now())}`;
  const ask = asker(send, respondWithin);
  const common = { accountId, ask, newId };
  const sign = signer(webhookSecret);
  const notifier = new Notifier({ ...common, random, sign, mishaps });
  const { WebSocket = globalThis.WebSocket } = settings;
  const parts = { ...settings, ...common, WebSocket };
  const journal = new Journal<EmulatorEvent>();
  const calls = new Calls(settings.keep);
  const posts = new Map<string, number>();
  let closing: Promise<void> | undefined;

  const app = apiRoutes({
    account,
    recordings,
    isLocal,
    respondWithin,
    isClosed: () => closing !== undefined,
    findCall: (id) => calls.get(id),
    onPost: (to_number) => void posts.set(to_number, (posts.get(to_number) ?? 0) + 1),
    onRefused: (refusal) =>
      journal.tell({ type: "refused", at: new Date().toISOString(), ...refusal }),
    accept: (params, url) => {
      const id = `cs_${newId(Date.now())}`;
      const call = new Call(
        {
          id,
          params,
          recordingUrl: () => recordings.urlOf(new URL(url).origin, id),
          local: isLocal(url),
        },
        clock,
        {
          onEntry: (entry) => journal.tell(entry),
          onState: (changed) => notifier.tell(changed),
        },
      );
      const line = call.timeline.run(async () => {
        call.begin();
        await run(call, parts);
      });
      calls.add(
        call,
        line.then(() => call.delivered),
      );
      return call.id;
    },
  });

  const hangup = (id: string): boolean => {
    const call = calls.get(id);
    return !!call && (call.happen("normal") || call.happen("canceled"));
  };
  const close = (): Promise<void> => {
    closing ??= (async () => {
      for (const { id } of calls.all()) hangup(id);
      await calls.settled();
      journal.close();
    })();
    return closing;
  };

  return {
    get apiKey() {
      return account.key;
    },
    accountId,
    webhookSecret,
    fetch: async (input, init) => {
      const given = input instanceof Request ? input : undefined;
      const signal = init?.signal ?? given?.signal;
      signal?.throwIfAborted();
      // Signal and text go beside the request: it would copy the one and stream the other.
      const text = typeof init?.body === "string" ? init.body : undefined;
      const rest = { ...init, signal: null, ...(text !== undefined && { body: null }) };
      return app.fetch(given && !init ? given : new Request(input, rest), { signal, text });
    },
    get calls() {
      return calls.all().map((call) => call.toRecord());
    },
    posts,
    call: (id) => calls.get(id)?.toRecord(),
    audio: (id) => {
      const call = calls.get(id);
      return call && audioOf(call.recording, call.talked);
    },
    ended: (id) => calls.ended(id),
    answer: (id) => calls.get(id)?.happen("answer") ?? false,
    reject: (id) => calls.get(id)?.happen("rejected") ?? false,
    hangup,
    regenerateKey: () => {
      const key = account.regenerateKey();
      journal.tell({ type: "key", at: new Date().toISOString() });
      return key;
    },
    reset: () => {
      calls.clear();
      posts.clear();
      journal.tell({ type: "reset", at: new Date().toISOString() });
    },
    close,
    [Symbol.asyncDispose]: close,
    [Symbol.asyncIterator]: () => journal[Symbol.asyncIterator](),
  };
};
