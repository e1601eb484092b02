import { check, fail } from "../lib/check.ts";
import { isLoopback } from "../lib/url.ts";
import { Call, CallRegistry, type Message } from "./call.ts";
import { instantClock, realClock } from "./clock.ts";
import { runCall } from "./flow.ts";
import { type CallRecord, type EmulatorEvent, EventLog, type RefusedEvent } from "./history.ts";
import { idSource, randomSource } from "./ids.ts";
import { Notifier } from "./notifications.ts";
import {
  type EmulatedService,
  type EmulatorOptions,
  EmulatorSettingsSchema,
  urlOf,
} from "./options.ts";
import { outdialSide } from "./outdial/side.ts";
import { requester } from "./outgoing.ts";
import { audioOf, type CallAudio } from "./recording/recording.ts";
import type { MakeSide } from "./side.ts";
import { telnyxSide } from "./telnyx/side.ts";
import { twilioSide } from "./twilio/side.ts";
import { vonageSide } from "./vonage/side.ts";

/** What the emulator can stand for, by the name of the service. */
const sides: Readonly<Record<string, MakeSide>> = {
  twilio: twilioSide,
  vonage: vonageSide,
  telnyx: telnyxSide,
};

const sideOf = (service: EmulatedService | undefined): MakeSide => {
  if (!service) return outdialSide;
  const side = Object.hasOwn(sides, service.name) ? sides[service.name] : undefined;
  return (
    side ??
    fail("service", `must be one that the emulator speaks: ${Object.keys(sides).join(", ")}`)
  );
};

/** How many refused requests are kept. */
const maxRefused = 100;

/** A running emulator. It is iterable: `for await` yields every event from then on. */
export interface Emulator extends AsyncIterable<EmulatorEvent> {
  /** The name of the carrier whose interface it speaks; absent for outdial's own. */
  readonly service?: string;
  /** The account's current API key; with Twilio its auth token, with Vonage the application's private key. */
  readonly apiKey: string;
  /** The account's id. */
  readonly accountId: string;
  /** The secret that signs notifications; with Vonage the signature secret, with Telnyx the public key. */
  readonly webhookSecret: string;
  /**
   * The service: answers a request as `fetch` does, on any origin. It needs no `this`.
   *
   * @throws the signal's reason once the request's signal has aborted
   * @throws {TypeError} when the number called drops the connection (`+12025550114`)
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** All known calls, the oldest first. */
  readonly calls: readonly CallRecord[];
  /**
   * How many valid requests for a call came for each `to_number`, until `reset`. It includes those that an
   * outage refused (`+12025550110`, `+12025550111`), but none with a wrong key or field.
   */
  readonly posts: ReadonlyMap<string, number>;
  /** The latest 100 requests that were refused, the oldest first, until `reset`. */
  readonly refused: readonly RefusedEvent[];
  /** A call at this moment, if it is known. */
  readonly call: (id: string) => CallRecord | undefined;
  /** The audio of a call so far, if the call is known. */
  readonly audio: (id: string) => CallAudio | undefined;
  /**
   * Waits until nothing more will happen in a call: it is over, and every notification is delivered or
   * given up.
   *
   * @returns the call with its whole history
   * @throws {BadParametersException} when no such call is known
   */
  readonly ended: (id: string) => Promise<CallRecord>;
  /**
   * Answers a ringing call.
   *
   * @returns whether it was ringing
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
  /** Issues and returns a new key; the old one is invalid at once. */
  readonly regenerateKey: () => string;
  /** Removes all calls at once: nothing more happens in them, and no notification is sent. */
  readonly reset: () => void;
  /**
   * Accepts no more calls, hangs up the current ones, and waits for their notifications. Then every loop
   * over the emulator ends, and nothing of it keeps a process alive.
   */
  readonly close: () => Promise<void>;
  /** The same as `close`. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Starts the service in this process, for development and tests.
 *
 * @throws {BadParametersException} when an option breaks its rule
 * @throws {TypeError} on a runtime without Web Crypto, such as Node 18
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
  if (typeof crypto === "undefined") {
    throw new TypeError(
      "createEmulator needs Web Crypto: Node 22 or newer, Deno, Bun or a browser",
    );
  }
  const settings = check(EmulatorSettingsSchema, () => options);
  const { host, seed } = settings;
  const { WebSocket = globalThis.WebSocket } = settings;
  // The sender of a request chooses its URL, so a server passes where it is bound.
  const isLocal = (url: string): boolean => isLoopback(host === undefined ? url : urlOf(host));
  const random = randomSource(seed);
  const newId = idSource(random, seed !== undefined);
  const clock = settings.clock === "instant" ? instantClock : realClock(settings.speed);
  const side = sideOf(settings.service)({ settings, service: settings.service, random, newId });
  const { account, accountId, follow } = side;
  const { responseTimeout = side.responseTimeout } = settings;
  const { responseTimeout: notificationTimeout = side.notificationTimeout ?? responseTimeout } =
    settings;
  const request = requester(settings.fetch, responseTimeout);
  const notifier = new Notifier({
    request: requester(settings.fetch, notificationTimeout),
    random,
    faults: settings.notifications,
  });
  const parts = {
    ...settings,
    accountId,
    request,
    newId,
    responseTimeout,
    WebSocket,
    follow,
    notify: (call: Call, messages: readonly Message[]) => notifier.notify(call, messages),
  };
  const eventLog = new EventLog<EmulatorEvent>();
  const calls = new CallRegistry(settings.keep);
  const posts = new Map<string, number>();
  let refused: readonly RefusedEvent[] = [];
  let closing: Promise<void> | undefined;

  const logService = (type: "key" | "reset"): void =>
    eventLog.append({ type, at: new Date().toISOString() });

  const app = side.routes({
    isLocal,
    responseTimeout,
    isClosed: () => closing !== undefined,
    findCall: (id) => calls.get(id),
    allCalls: () => calls.all(),
    onPost: (to_number) => void posts.set(to_number, (posts.get(to_number) ?? 0) + 1),
    onRefused: (refusal) => {
      const event = { type: "refused", at: new Date().toISOString(), ...refusal } as const;
      refused = [...refused, event].slice(-maxRefused);
      eventLog.append(event);
    },
    accept: ({ params, limits, url, prepare }) => {
      const id = side.newCallId(Date.now());
      const recordingUrl = () => side.recordingUrl(new URL(url).origin, id);
      const call = new Call({ id, params, limits, recordingUrl, local: isLocal(url) }, clock, {
        onEntry: (entry) => eventLog.append(entry),
        onState: (changed) => notifier.notify(changed, side.messagesOf(changed)),
      });
      const prepared = prepare(call);
      const line = call.timeline.run(async () => {
        call.begin();
        await runCall(call, parts);
      });
      const done = line.then(() => call.delivered);
      calls.add(call, done);
      return prepared;
    },
  });
  app.onError((error) => {
    throw error;
  });

  const hangup = (id: string): boolean => {
    const call = calls.get(id);
    return !!call && (call.transition("normal") || call.transition("canceled"));
  };
  const close = (): Promise<void> => {
    closing ??= (async () => {
      for (const { id } of calls.all()) hangup(id);
      await calls.settled();
      eventLog.close();
    })();
    return closing;
  };

  return {
    ...(settings.service && { service: settings.service.name }),
    get apiKey() {
      return account.key;
    },
    accountId,
    get webhookSecret() {
      return side.webhookSecret();
    },
    fetch: async (input, init) => {
      const given = input instanceof Request ? input : undefined;
      const signal = init?.signal ?? given?.signal;
      signal?.throwIfAborted();
      // Signal and text are passed beside the request, which would copy the one and stream the other.
      const text = typeof init?.body === "string" ? init.body : undefined;
      const rest = { ...init, signal: null, ...(text !== undefined && { body: null }) };
      return app.fetch(given && !init ? given : new Request(input, rest), { signal, text });
    },
    get calls() {
      return calls.all().map((call) => call.toRecord());
    },
    posts,
    get refused() {
      return refused;
    },
    call: (id) => calls.get(id)?.toRecord(),
    audio: (id) => {
      const call = calls.get(id);
      return call && audioOf(call.recording, call.talkTime);
    },
    ended: (id) => calls.ended(id),
    answer: (id) => calls.get(id)?.transition("answer") ?? false,
    reject: (id) => calls.get(id)?.transition("rejected") ?? false,
    hangup,
    regenerateKey: () => {
      const key = account.regenerateKey();
      logService("key");
      return key;
    },
    reset: () => {
      calls.clear();
      posts.clear();
      refused = [];
      logService("reset");
    },
    close,
    [Symbol.asyncDispose]: close,
    [Symbol.asyncIterator]: () => eventLog[Symbol.asyncIterator](),
  };
};
