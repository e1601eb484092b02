import { expect, it } from "vitest";
import type { CallEvent } from "../../../../src/callbacks/index.ts";
import { Deliveries } from "../../../../src/exchange/deliveries.ts";
import type { ExchangeEvent } from "../../../../src/exchange/service.ts";
import { openStore } from "../../../../src/exchange/store.ts";
import { signedMessage } from "../../../../src/server/outdial/notifications.ts";
import { newPath, openStage, to, until } from "./stage.ts";

const hour = 3_600_000;

/** Notifications of one call, on a clock of the test's. */
const openDeliveries = async (status: () => number, path = newPath(), begin = 0) => {
  const store = await openStore(path);
  const clock = { now: begin };
  const waits: { readonly at: number; readonly action: () => void }[] = [];
  const sent: { readonly id: string; readonly at: number }[] = [];
  const events: ExchangeEvent[] = [];
  const deliveries = new Deliveries({
    store,
    messageOf: (_, stored) => signedMessage({ random: () => 0.5, sign: () => "" })(stored),
    requesterOf: () => async (_url, init) => {
      sent.push({ id: new Headers(init.headers).get("webhook-id") ?? "", at: clock.now });
      return { ms: 0, response: new Response(null, { status: status() }) };
    },
    rulesOf: () => ({ reach: new Set(), warnOfPlain: () => {} }),
    log: () => {},
    onEvent: (event) => events.push(event),
    now: () => clock.now,
    after: (ms, action) => {
      const wait = { at: clock.now + ms, action };
      waits.push(wait);
      return () => {
        const index = waits.indexOf(wait);
        if (index >= 0) waits.splice(index, 1);
      };
    },
  });
  const add = (...ids: readonly string[]) => {
    store.write(() => {
      for (const id of ids) {
        const message = { id, event: "call.ringing", url: "https://app.test/status", body: "{}" };
        store.addNotification("outdial", "cs_1", { ...message, method: "POST" }, clock.now);
      }
    });
    deliveries.wake("cs_1");
  };
  /** Lets time pass until nothing waits any more, or until a moment. */
  const pass = async (until = Number.POSITIVE_INFINITY) => {
    for (;;) {
      // What is sent is answered within this turn.
      await new Promise((resolve) => setTimeout(resolve));
      const [next] = waits.sort((one, other) => one.at - other.at);
      if (!next || next.at > until) return;
      clock.now = next.at;
      waits.shift();
      next.action();
    }
  };
  const close = async () => {
    await deliveries.close();
    store.close();
  };
  return { store, deliveries, clock, sent, events, add, pass, close, path };
};

it("six attempts as the interface has them, then each hour up to 12 hours, then it is given up", async () => {
  const { add, pass, sent, store, deliveries, close } = await openDeliveries(() => 503);
  add("evt_1");
  await pass();
  expect(sent.slice(0, 6).map(({ at }) => at)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000]);
  const later = sent.slice(6).map(({ at }) => at - 31_000);
  expect(later).toEqual(Array.from({ length: 11 }, (_, at) => (at + 1) * hour));
  expect(store.failed(10)).toMatchObject([{ id: "evt_1", state: "given_up", status: 503 }]);
  expect(deliveries.resend("evt_1")).toBe(true);
  await pass(12 * hour);
  expect(sent.length).toBeGreaterThan(20);
  await close();
});

it.each([400, 401, 403, 404, 410])(
  "HTTP %i is final, and can be sent again by hand",
  async (status) => {
    let answer = status;
    const { add, pass, sent, deliveries, store, close } = await openDeliveries(() => answer);
    add("evt_1");
    await pass();
    expect(sent).toHaveLength(1);
    answer = 204;
    expect(deliveries.resend("evt_1")).toBe(true);
    await pass();
    expect(sent.map(({ id }) => id)).toEqual(["evt_1", "evt_1"]);
    expect(store.failed(10)).toEqual([]);
    expect(deliveries.resend("evt_1")).toBe(false);
    expect(deliveries.resend("evt_2")).toBe(false);
    await close();
  },
);

it("in order: the next waits until the one before is delivered, also through a start", async () => {
  let status = 503;
  const first = await openDeliveries(() => status);
  first.add("evt_1", "evt_2", "evt_3");
  await first.pass(20_000);
  expect(new Set(first.sent.map(({ id }) => id))).toEqual(new Set(["evt_1"]));
  await first.close();
  status = 204;
  const again = await openDeliveries(() => status, first.path, 5 * hour);
  again.deliveries.resume();
  await again.pass();
  expect(again.sent.map(({ id }) => id)).toEqual(["evt_1", "evt_2", "evt_3"]);
  expect(again.store.undelivered).toEqual([]);
  await again.close();
});

it("a receiver that is away gets all of a call after a start of the service, each with its id, in order", async () => {
  const refused: CallEvent[] = [];
  const receive = (event: CallEvent) => {
    refused.push(event);
    return 503;
  };
  const first = await openStage(newPath(), { receive });
  const id = await first.place();
  await until(() => first.asterisk.called.includes(id));
  first.asterisk.emit(id, { type: "ringing" });
  first.asterisk.emit(id, { type: "ended", cause: 17, status: 486 });
  await until(() => refused.length > 0);
  const again = await openStage(first.killed());
  await until(() => again.told.length === 3);
  expect(again.told.map(({ type }) => type)).toEqual([
    "call.initiated",
    "call.ringing",
    "call.failed",
  ]);
  expect(again.told[0]?.id).toBe(refused[0]?.id);
  expect(again.told[2]).toMatchObject({ call_id: id, data: { to, reason: "busy" } });
});
