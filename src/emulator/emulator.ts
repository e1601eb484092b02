import { carrierNamed, carriers } from "../carriers/carriers.ts";
import { check, fail, isText } from "../lib/check.ts";
import { virtualTimeOf, type Waiting, waitingBy } from "../lib/clock.ts";
import { isLoopback } from "../lib/url.ts";
import type { ApiRoutes } from "../server/api.ts";
import type { CallRecord, EmulatorEvent, RefusedEvent } from "../server/history.ts";
import { idSource, randomSource } from "../server/ids.ts";
import { outdialSide } from "../server/outdial/side.ts";
import { type Reach, reachOf } from "../server/outgoing.ts";
import type { MakeSide, ServiceSide } from "../server/side.ts";
import { receptionOf } from "./api-responses.ts";
import { type Call, CallRegistry, type Trigger } from "./call.ts";
import { addKeyTone, keyInterval } from "./callee.ts";
import { type Clock, instantClock, realClock, sharedClock } from "./clock.ts";
import { EventLog } from "./event-log.ts";
import type { Telephones } from "./flow.ts";
import {
  type EmulatedService,
  type EmulatorOptions,
  type EmulatorSettings,
  EmulatorSettingsSchema,
  urlOf,
} from "./options.ts";
import { ReceivedRequests } from "./received.ts";
import { audioOf, type CallAudio } from "./recording/recording.ts";
import type { LineParts } from "./simulated-line.ts";
import { simulatedTelephones } from "./simulated-telephones.ts";
import { callStarter } from "./start.ts";

const sideOf = (service: EmulatedService | undefined): MakeSide => {
  if (!service) return outdialSide;
  const names = Object.keys(carriers).join(", ");
  const carrier = carrierNamed(service.name);
  return carrier?.makeSide ?? fail("service", `must be one that the emulator speaks: ${names}`);
};

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
  /**
   * Presses keys of the callee's telephone, in the place of a script: as its act `press`, but at once.
   *
   * @param digits - 1 to 20 of 0 to 9, `*` and `#`
   * @returns whether there was an answered call
   * @throws {BadParametersException} when `digits` breaks the rule
   */
  readonly press: (id: string, digits: string) => boolean;
  /**
   * Adds a line to a call's history: what an application did that no request shows.
   *
   * @param text - at most 1 000 characters
   * @returns whether the call is known
   * @throws {BadParametersException} when `text` breaks the rule
   */
  readonly note: (id: string, text: string) => boolean;
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

/** @throws {TypeError} on a runtime without Web Crypto */
const requireCrypto = (): void => {
  if (typeof crypto === "undefined") {
    throw new TypeError(
      "createEmulator needs Web Crypto: Node 22 or newer, Deno, Bun or a browser",
    );
  }
};

/** What `fetch` of an emulator returns of its routes. */
const fetchOf =
  (app: ApiRoutes): Emulator["fetch"] =>
  async (input, init) => {
    const given = input instanceof Request ? input : undefined;
    const signal = init?.signal ?? given?.signal;
    signal?.throwIfAborted();
    // Signal and text are passed beside the request, which would copy the one and stream the other.
    const text = typeof init?.body === "string" ? init.body : undefined;
    const rest = { ...init, signal: null, ...(text !== undefined && { body: null }) };
    return app.fetch(given && !init ? given : new Request(input, rest), { signal, text });
  };

/** What a program reads of the calls of an emulator, and does with them. */
type CallControls = Pick<
  Emulator,
  "call" | "audio" | "ended" | "answer" | "reject" | "hangup" | "press" | "note"
>;

/** Presses keys of a call's callee, one right after the other. */
const pressKeys = (call: Call | undefined, digits: string): boolean => {
  if (!isText(digits) || !/^[\d*#]{1,20}$/.test(digits)) {
    fail("digits", "must be 1 to 20 keys: 0 to 9, * and #");
  }
  if (call?.state !== "answered") return false;
  for (const [at, digit] of [...digits].entries()) {
    addKeyTone(call.recording.callee, digit, call.talkTime + at * keyInterval);
    call.press(digit);
  }
  return true;
};

/** The longest note, in characters. */
const longestNote = 1_000;

const noteOf = (call: Call | undefined, text: string): boolean => {
  if (!isText(text) || text.length > longestNote) {
    fail("text", `must be a text of at most ${longestNote} characters`);
  }
  call?.log({ type: "note", text });
  return !!call;
};

const controlsOf = (calls: CallRegistry, pass: Waiting["pass"]): CallControls => {
  const change =
    (...triggers: readonly Trigger[]) =>
    (id: string): boolean => {
      const call = calls.get(id);
      return !!call && triggers.some((trigger) => call.transition(trigger));
    };
  return {
    call: (id) => calls.get(id)?.toRecord(),
    audio: (id) => {
      const call = calls.get(id);
      return call && audioOf(call.recording, call.talkTime);
    },
    ended: (id) => pass(calls.ended(id)),
    answer: change("answer"),
    reject: change("rejected"),
    hangup: change("normal", "canceled"),
    press: (id, digits) => pressKeys(calls.get(id), digits),
    note: (id, text) => noteOf(calls.get(id), text),
  };
};

/** The clock that the options describe. */
const clockOf = ({ clock, speed }: EmulatorSettings): Clock => {
  const time = virtualTimeOf(clock);
  if (time) return sharedClock(time);
  return clock === "instant" ? instantClock : realClock(speed);
};

/** The state of one emulator. */
interface EmulatorParts {
  readonly settings: EmulatorSettings;
  readonly side: ServiceSide;
  readonly calls: CallRegistry;
  readonly received: ReceivedRequests;
  readonly eventLog: EventLog<EmulatorEvent>;
}

/** Returns the function that closes an emulator, and one that says whether it was called. */
const closerOf = (
  { calls, eventLog }: EmulatorParts,
  hangup: Emulator["hangup"],
  pass: Waiting["pass"],
) => {
  let closing: Promise<void> | undefined;
  return {
    isClosed: () => closing !== undefined,
    close: (): Promise<void> => {
      closing ??= (async () => {
        for (const { id } of calls.all()) hangup(id);
        await pass(calls.settled());
        eventLog.close();
      })();
      return closing;
    },
  };
};

const emulatorOf = (
  { settings, side, calls, received, eventLog }: EmulatorParts,
  methods: CallControls & Pick<Emulator, "fetch" | "close">,
): Emulator => {
  const { service } = settings;
  const { account, accountId } = side;
  const log = (type: "key" | "reset"): void =>
    eventLog.append({ type, at: new Date().toISOString() });
  return {
    ...methods,
    ...(service && { service: service.name }),
    get apiKey() {
      return account.key;
    },
    accountId,
    get webhookSecret() {
      return side.webhookSecret();
    },
    get calls() {
      return calls.all().map((call) => call.toRecord());
    },
    posts: received.posts,
    get refused() {
      return received.refused;
    },
    regenerateKey: () => {
      const key = account.regenerateKey();
      log("key");
      return key;
    },
    reset: () => {
      calls.clear();
      received.clear();
      log("reset");
    },
    [Symbol.asyncDispose]: methods.close,
    [Symbol.asyncIterator]: () => eventLog[Symbol.asyncIterator](),
  };
};

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
export const createEmulator = (options: EmulatorOptions = {}): Emulator => emulate(options);

/** The line and the telephones of an emulator's calls. */
export interface SimulatedLine extends LineParts {
  /** Instead of simulated ones. */
  readonly telephones?: Telephones | undefined;
}

/**
 * Starts an emulator.
 *
 * @throws {BadParametersException} when an option breaks its rule
 */
export const emulate = (options: EmulatorOptions, line?: SimulatedLine): Emulator => {
  requireCrypto();
  const settings = check(EmulatorSettingsSchema, () => options);
  const { host, seed, service } = settings;
  const random = randomSource(seed);
  const newId = idSource(random, seed !== undefined);
  const side = sideOf(service)({ settings, service, random, newId });
  const eventLog = new EventLog<EmulatorEvent>();
  const calls = new CallRegistry(settings.keep);
  const { telephones = simulatedTelephones, ...simulated }: SimulatedLine = line ?? {};
  const clock = clockOf(settings);
  const { pass } = waitingBy(settings.clock);
  const received = new ReceivedRequests(eventLog, () => clock().now());
  const parts: EmulatorParts = { settings, side, calls, received, eventLog };
  const controls = controlsOf(calls, pass);
  const { isClosed, close } = closerOf(parts, controls.hangup, pass);
  const { responseTimeout = side.responseTimeout } = settings;
  // The sender of a request chooses its URL, so a server passes where it is bound.
  const reach = (url: string): Reach =>
    reachOf(isLoopback(host === undefined ? url : urlOf(host)), service !== undefined);
  const accept = callStarter({
    ...parts,
    clock,
    line: simulated,
    telephones,
    random,
    newId,
    reachOf: reach,
    responseTimeout,
  });
  const app = side.routes({
    reachOf: reach,
    responseTimeout,
    findCall: (id) => calls.get(id),
    allCalls: () => calls.all(),
    receive: ({ to_number, lost = 0 }) => {
      received.count(to_number);
      return receptionOf(telephones.responseTo(to_number), lost, isClosed());
    },
    onRefused: received.onRefused,
    keys: received.keys,
    accept,
  });
  app.onError((error) => {
    throw error;
  });
  return emulatorOf(parts, { ...controls, fetch: fetchOf(app), close });
};
