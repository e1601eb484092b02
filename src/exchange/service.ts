import { carrierNamed } from "../carriers/carriers.ts";
import type { ApiParts } from "../server/api.ts";
import { hangUp } from "../server/call.ts";
import { idSource, randomSource } from "../server/ids.ts";
import { outdialSide } from "../server/outdial/side.ts";
import { type Requester, reachOf, requester } from "../server/outgoing.ts";
import type { MakeSide } from "../server/side.ts";
import { Ari, type AriClient } from "./ari.ts";
import { ExchangeCalls, type ServedSide } from "./calls.ts";
import { Deliveries } from "./deliveries.ts";
import type { CarrierAccount, ExchangeService, FailedNotification, ServiceParts } from "./parts.ts";
import { Recovery } from "./recover.ts";
import { type SideName, type StoredNotification, StoreError } from "./store.ts";
import { notReached, telephonesOf } from "./telephones.ts";

export type {
  AskedCall,
  CarrierAccount,
  ExchangeEvent,
  ExchangeService,
  NotAdmitted,
  ServiceParts,
} from "./parts.ts";

/** Which paths each side has; all others are the own interface's. */
const pathsOf: Readonly<Record<CarrierAccount["name"], RegExp>> = {
  twilio: /^\/2010-04-01\//,
  telnyx: /^\/v2\//,
  vonage: /^\/v1\//,
};

/** How long a telephone rings by default, in milliseconds. */
const defaultAnswerTimeout = 60_000;

/** A refusal that is no call at each carrier, and that a later request may not get. */
const later = (detail: string) => ({ status: 429, detail }) as const;

/** What a request is answered with while the store can't be written: nothing was placed. */
const unwritable = (): Response =>
  Response.json(
    { detail: "The store can't be written.", message: "The store can't be written." },
    { status: 429, headers: { "Retry-After": "5" } },
  );

/** How many notifications are listed that aren't delivered. */
const maxFailed = 1_000;

const failedOf = (stored: StoredNotification): FailedNotification => {
  const { id, call_id, event, made_at, attempts, next_at, status, error, response } = stored;
  const state = stored.state === "given_up" ? stored.state : "pending";
  const next = state === "pending" && { next_at };
  return { id, call_id, event, state, at: made_at, attempts, ...next, status, error, response };
};

/** The answer to a notification of a side that isn't served any more. */
const noSide: Requester = async () => ({ ms: 0, error: "this exchange has no such interface" });

/** Makes a side, whose ids are random. */
const sideOf = (
  make: MakeSide,
  settings: Parameters<MakeSide>[0]["settings"],
  service: Parameters<MakeSide>[0]["service"],
) => {
  const random = randomSource();
  const newId = idSource(random, false);
  return { side: make({ settings, service, random, newId }), newId };
};

/** The sides of a service: its own interface, and the carriers' beside it. */
const sidesOf = (parts: ServiceParts): ReadonlyMap<SideName, ServedSide> => {
  const { store, numbers, webhookSecret, recordingSecret, also, takesPrivate, outgoing } = parts;
  const accountId = store.meta("account") ?? `ac_${idSource(randomSource(), false)(Date.now())}`;
  store.setMeta("account", accountId);
  const lasting = { accountId, recordingSecret: new TextEncoder().encode(recordingSecret) };
  const own = { apiKey: store.keyKeeper, numbers, webhookSecret, lasting };
  const served = ({ side, newId }: ReturnType<typeof sideOf>): ServedSide => ({
    side,
    newId,
    reach: reachOf(takesPrivate, takesPrivate),
    request: requester(outgoing, side.responseTimeout),
    notify: requester(outgoing, side.notificationTimeout ?? side.responseTimeout),
  });
  const sides = new Map<SideName, ServedSide>([
    ["outdial", served(sideOf(outdialSide, own, undefined))],
  ]);
  for (const { name, account, apiKey } of also) {
    const make = carrierNamed(name)?.makeSide;
    const made = make && sideOf(make, { apiKey, numbers }, { name, account });
    if (!made?.side.restore) throw new TypeError(`also: ${name} is not spoken by an exchange`);
    sides.set(name, served(made));
  }
  return sides;
};

/** The API of each side, which answers requests. */
const apisOf = (
  parts: ServiceParts,
  sides: ReadonlyMap<SideName, ServedSide>,
  calls: ExchangeCalls,
  outage: () => ReturnType<typeof later> | undefined,
) => {
  const { store, admit, onEvent } = parts;
  /** The rules of refusals whose responses aren't made yet, by their details. */
  const rules = new Map<string, string>();
  const partsOf = (name: SideName, { reach, side }: ServedSide): ApiParts => ({
    reachOf: () => reach,
    responseTimeout: side.responseTimeout,
    findCall: (id) => calls.find(name, id),
    allCalls: () => calls.all(name),
    receive: ({ from_number, to_number, isPlaced }) => {
      const at = Date.now();
      const away = isPlaced ? undefined : outage();
      const asked = { from_number, to_number, leg: "call", at } as const;
      const refused = isPlaced || away ? undefined : admit(asked);
      if (away) rules.set(away.detail, "asterisk");
      if (refused) rules.set(refused.detail, refused.reason);
      return {
        outage: away ?? refused,
        isLost: false,
        isSent: true,
        send: ({ status, headers, text }) => new Response(text, { status, headers }),
      };
    },
    onRefused: ({ status, detail }) => {
      const rule = rules.get(detail) ?? "request";
      onEvent({ type: "refused", side: name, status, rule });
    },
    keys: store.keys,
    accept: (call) => calls.accept(name, call),
  });
  const apis = [...sides].map(([name, served]) => {
    const app = served.side.routes(partsOf(name, served));
    app.onError((error) => {
      throw error;
    });
    return { name, app, paths: name === "outdial" ? /^/ : pathsOf[name] };
  });
  // The own interface has what no carrier has.
  apis.reverse();
  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const api = apis.find(({ paths }) => paths.test(pathname));
    try {
      return await (api?.app.fetch(request, { signal: request.signal }) ?? unwritable());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      onEvent({ type: "refused", side: api?.name ?? "outdial", status: 429, rule: "store" });
      return unwritable();
    }
  };
};

/** Makes what talks to Asterisk. */
export type MakeAri = (...options: ConstructorParameters<typeof Ari>) => AriClient;

/**
 * Opens the service: recovers what a process before has left, and serves. It also opens while Asterisk is away, and recovers
 * once that is back.
 */
export const openService = async (
  parts: ServiceParts,
  makeAri: MakeAri = (...options) => new Ari(...options),
): Promise<ExchangeService> => {
  const { store, onEvent, recorder, admit, endpoint, speech } = parts;
  const { answerTimeout = defaultAnswerTimeout, maxDuration } = parts;
  let isClosing = false;
  const ari = makeAri(parts.ari, (state) => {
    onEvent({ type: "asterisk", state });
    if (state === "back") recovery.run();
  });
  const sides = sidesOf(parts);
  const telephones = telephonesOf(ari, {
    endpoint,
    speech,
    refusalOf: ({ params, id }, to_number) => {
      const { from_number } = params;
      const refused = admit({ from_number, to_number, leg: "dial", at: Date.now() });
      if (!refused) return;
      const side = store.call(id)?.side ?? "outdial";
      onEvent({ type: "refused", side, status: refused.status, rule: refused.reason });
      return `is refused by this exchange (${refused.reason})`;
    },
    onSettled: ({ id }) => store.keep(() => store.settle(id)),
    fence: ({ id }) => {
      recovery.fence(id).catch(() => {});
    },
    onFrame: ({ id }, ...frame) => recorder?.frame(id, ...frame),
  });
  const calls: ExchangeCalls = new ExchangeCalls({
    store,
    sides,
    telephones,
    recorder,
    onEvent,
    flow: {
      ringDuration: answerTimeout,
      answerTimeout,
      maxDuration,
      WebSocket: undefined,
      clock: "real",
      openSocket: parts.openSocket,
    },
    deliver: (call_id) => deliveries.wake(call_id),
  });
  const deliveries = new Deliveries({
    store,
    onEvent,
    messageOf: (name, stored) => {
      const message = sides.get(name)?.side.messageFrom?.(stored);
      // A side that isn't served any more signs nothing.
      return message ?? { ...stored, headers: () => ({}), retryDelay: () => undefined };
    },
    requesterOf: (name) => sides.get(name)?.notify ?? noSide,
    rulesOf: (call_id, name) => {
      const reach = sides.get(name)?.reach ?? new Set();
      return calls.live.find(({ id }) => id === call_id) ?? { reach, warnOfPlain: () => {} };
    },
    log: (call_id, entry) => calls.log(call_id, entry),
    now: () => Date.now(),
    after: (ms, action) => {
      const timer = setTimeout(action, ms);
      return () => clearTimeout(timer);
    },
  });
  const recovery = new Recovery({
    ari,
    store,
    channelLog: parts.channelLog,
    isLive: (id) => calls.isLive(id),
    lose: (row, left) => calls.lose(row, left),
    onSwept: (channels) => onEvent({ type: "swept", channels }),
  });
  const outage = () => {
    if (isClosing) return later("The exchange stops.");
    return ari.isOpen ? undefined : notReached;
  };
  const fetch = apisOf(parts, sides, calls, outage);
  await ari.start();
  await recovery.start();
  deliveries.resume();
  return {
    fetch,
    get isReady() {
      return outage() === undefined;
    },
    get live() {
      return calls.live.map((call) => call.toRecord());
    },
    call: (id) => {
      const row = store.call(id);
      return row && store.record(row);
    },
    history: (limit) => calls.history(limit),
    get failedNotifications() {
      return store.failed(maxFailed).map(failedOf);
    },
    resend: (id) => deliveries.resend(id),
    regenerateKey: () => sides.get("outdial")?.side.account.regenerateKey() ?? "",
    erase: (number) => {
      const erased = store.erase(number);
      for (const id of erased) calls.forget(id);
      telephones.erase(number);
      recorder?.erase(erased);
      return erased.length;
    },
    close: async ({ wait }) => {
      isClosing = true;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const waited = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, wait);
      });
      await Promise.race([calls.idle(), waited]);
      clearTimeout(timer);
      for (const call of calls.live) hangUp(call);
      await recovery.run();
      recovery.stop();
      await deliveries.close();
      telephones.close();
      await recorder?.close();
      store.close();
    },
  };
};
