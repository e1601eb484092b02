import type { CallEvent, UnknownEvent } from "outdial/callbacks";
import { expect, test } from "vitest";
import { Calls, MemoryStore } from "../../examples/bridge/calls.ts";

const day = 86_400_000;

const newCall = () => {
  const calls = new Calls(new MemoryStore());
  const { id } = calls.create("one", 0);
  return { calls, id };
};

test("a caller may place calls up to each limit, and is given how long to wait", () => {
  const calls = new Calls(new MemoryStore());
  const limits = { name: "one", per_minute: 2, per_day: 4 };
  const at = (seconds: number): number => calls.spend(limits, seconds * 1000);
  expect(at(0)).toBe(0);
  expect(at(10)).toBe(0);
  expect(at(20)).toBe(40);
  expect(at(59)).toBe(1);
  expect(at(60)).toBe(0); // The first one is older than a minute; refused ones never counted.
  expect(at(61)).toBe(9);
  expect(at(70)).toBe(0);
  expect(at(1000)).toBe(85_400); // Four within a day.
  expect(calls.spend({ ...limits, name: "another" }, 1_000_000)).toBe(0);
  expect(at(86_400)).toBe(0);
});

test("an event gives the service's id of a call until the service has answered", () => {
  const { calls, id } = newCall();
  const event = (call_id: string): UnknownEvent => ({
    known: false,
    type: "leg.ringing",
    call_id,
    data: {},
  });
  calls.addEvent(id, event("x".repeat(60_000)));
  expect(calls.find(id)).not.toHaveProperty("call_id");
  calls.addEvent(id, event("cs_1"));
  calls.addEvent(id, event("cs_2"));
  expect(calls.find(id)).toMatchObject({ call_id: "cs_1" });
  calls.update(id, { call_id: "cs_3" });
  calls.addEvent(id, event("cs_4"));
  expect(calls.find(id)).toMatchObject({ call_id: "cs_3" });
});

test("an event that is known by its id is kept once", () => {
  const { calls, id } = newCall();
  const event: CallEvent = {
    known: true,
    id: "evt_1",
    type: "call.ringing",
    call_id: "cs_1",
    data: {},
  };
  calls.addEvent(id, event);
  calls.addEvent(id, event);
  expect(calls.find(id)?.events).toEqual([event]);
});

test("a call keeps 30 events of at most 2048 characters, and always its end", () => {
  const { calls, id } = newCall();
  const leg = (number: number, data = {}): UnknownEvent => ({
    known: false,
    type: "leg.ringing",
    call_id: "cs_1",
    id: `evt_${number}`,
    data,
  });
  const end = (number: number): CallEvent => ({
    known: true,
    type: "call.completed",
    call_id: "cs_1",
    id: `evt_${number}`,
    data: {},
  });
  calls.addEvent(id, leg(0, { text: "x".repeat(5_000) }));
  for (let number = 1; number <= 1_000; number++) calls.addEvent(id, leg(number));
  for (let number = 2_000; number <= 2_010; number++) calls.addEvent(id, end(number));
  const { events = [] } = calls.find(id) ?? {};
  expect(events).toHaveLength(31);
  expect(events[0]?.id).toBe("evt_1");
  expect(events.at(-1)?.id).toBe("evt_2000");
});

test("a call is forgotten after a week, and nothing creates it again", () => {
  const calls = new Calls(new MemoryStore());
  const now = Date.now();
  const old = calls.create("one", now);
  const recent = calls.create("one", now + day);
  calls.create("one", now + 7 * day + 1);
  expect(calls.find(old.id)).toBeUndefined();
  expect(calls.find(recent.id)).toEqual(recent);
  calls.update(old.id, { stage: "connected" });
  calls.addEvent(old.id, { known: false, type: "leg.ringing", call_id: "cs_1", data: {} });
  expect(calls.find(old.id)).toBeUndefined();
});
