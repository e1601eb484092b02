import type {
  ExchangeEvent,
  ExchangeService,
  FailedNotification,
} from "../../../src/exchange/parts.ts";
import type { CallRecord } from "../../../src/server/history.ts";

/** A service whose calls a test writes. */
export interface FakeService extends ExchangeService {
  isReady: boolean;
  live: CallRecord[];
  over: CallRecord[];
  failedNotifications: FailedNotification[];
  /** The ids that were sent again. */
  readonly resent: string[];
  /** The numbers that were erased. */
  readonly erased: string[];
  /** How many keys were made. */
  keys: number;
}

const start = Date.parse("2026-11-28T10:00:00Z");

/** A call of a history. */
export const callOf = (id: string, facts: Partial<CallRecord> = {}): CallRecord => ({
  id,
  state: "answered",
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.example/flow",
  status_callback_url: "https://app.example/status",
  record: true,
  initiated_at: start,
  answered_at: start + 2_000,
  history: [
    { type: "state", state: "initiated", call_id: id, at: "2026-11-28T10:00:00.000Z" },
    { type: "state", state: "ringing", call_id: id, at: "2026-11-28T10:00:01.000Z" },
    { type: "state", state: "answered", call_id: id, at: "2026-11-28T10:00:02.000Z" },
  ],
  ...facts,
});

/** A notification that is given up. */
export const failedOf = (
  id: string,
  facts: Partial<FailedNotification> = {},
): FailedNotification => ({
  id,
  call_id: "cs_01KB4Z9N3V7XGQJ5T8WYRMH2PD",
  event: "call.completed",
  state: "given_up",
  at: start,
  attempts: 6,
  status: 500,
  error: "HTTP 500",
  response: "the receiver is <b>broken</b>",
  ...facts,
});

export const fakeService = (): FakeService => {
  const service: FakeService = {
    fetch: async () => new Response(null, { status: 404 }),
    isReady: true,
    live: [],
    over: [],
    failedNotifications: [],
    resent: [],
    erased: [],
    keys: 0,
    call: (id) => [...service.live, ...service.over].find((call) => call.id === id),
    history: (limit) => service.over.toReversed().slice(0, limit),
    resend: (id) => {
      const isKnown = service.failedNotifications.some((each) => each.id === id);
      if (isKnown) service.resent.push(id);
      return isKnown;
    },
    regenerateKey: () => `ak_key-number-${++service.keys}`,
    erase: (number) => service.erased.push(number),
    close: async () => {},
  };
  return service;
};

/** An event of a call. */
export const rang = (call_id: string): ExchangeEvent => ({ type: "rang", call_id });
