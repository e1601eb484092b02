import type { Event, UnknownEvent } from "outdial/callbacks";
import { expect, test } from "vitest";
import { memory } from "../../examples/bridge/memory.ts";

const limits = [
  { calls: 2, seconds: 60 },
  { calls: 4, seconds: 3600 },
];

test("a caller may spend up to each limit, and is told how long to wait", async () => {
  let time = 0;
  const state = memory(() => time);
  const at = (seconds: number): Promise<number> => {
    time = seconds * 1000;
    return state.spend("one", limits);
  };
  expect(await at(0)).toBe(0);
  expect(await at(10)).toBe(0);
  expect(await at(20)).toBe(40);
  expect(await at(59)).toBe(1);
  expect(await at(60)).toBe(0); // The first has left the window; what was refused never counted.
  expect(await at(61)).toBe(9);
  expect(await at(70)).toBe(0);
  expect(await at(1000)).toBe(2600); // Four within the hour.
  expect(await state.spend("another", limits)).toBe(0);
  expect(await at(3600)).toBe(0);
});

test("only the first who claims something of a call gets it", async () => {
  const { claim } = memory();
  expect(await claim("a", "media")).toBe(true);
  expect(await claim("a", "media")).toBe(false);
  expect(await claim("a", "agent")).toBe(true);
  expect(await claim("a", "agent")).toBe(false);
  expect(await claim("b", "media")).toBe(true);
});

test("an event tells the service's id of a call until the service has, and one that is too long never", async () => {
  const state = memory();
  const told = (call_id: string): UnknownEvent => ({
    known: false,
    type: "leg.ringing",
    call_id,
    data: {},
  });
  await state.note("a", { events: [told("x".repeat(60_000))] });
  expect(await state.find("a")).not.toHaveProperty("call_id");
  await state.note("a", { events: [told("cs_1")] });
  await state.note("a", { events: [told("cs_2")] });
  expect(await state.find("a")).toMatchObject({ call_id: "cs_1" });
  await state.note("a", { call_id: "cs_3" });
  await state.note("a", { events: [told("cs_4")] });
  expect(await state.find("a")).toMatchObject({ call_id: "cs_3" });
});

test("news are added, and an event that is known is left out", async () => {
  const state = memory();
  const event: Event = {
    known: true,
    id: "evt_1",
    type: "call.ringing",
    call_id: "cs_1",
    data: {},
  };
  await state.note("a", { caller: "one" });
  await state.note("a", { events: [event] });
  await state.note("a", { call_id: "cs_1", events: [event] });
  expect(await state.find("a")).toEqual({
    id: "a",
    caller: "one",
    call_id: "cs_1",
    events: [event],
  });
  expect(await state.find("b")).toBeUndefined();
});

test("the oldest calls are forgotten, so that memory ends somewhere", async () => {
  const state = memory();
  for (let call = 0; call <= 10_000; call++) await state.note(String(call), { caller: "one" });
  expect(await state.find("0")).toBeUndefined();
  expect(await state.find("1")).toBeDefined();
});

test("what is kept of a call's events is bounded, and how it ended is always kept", async () => {
  const state = memory();
  const call = { call_id: "cs_1", data: {} };
  const leg = (id: number, data = {}): UnknownEvent => ({
    known: false,
    type: "leg.ringing",
    call_id: "cs_1",
    id: `evt_${id}`,
    data,
  });
  const end = (id: number): Event => ({
    ...call,
    known: true,
    type: "call.completed",
    id: `evt_${id}`,
  });
  await state.note("a", { events: [leg(0, { said: "x".repeat(5_000) })] });
  for (let id = 1; id <= 1_000; id++) await state.note("a", { events: [leg(id)] });
  for (let id = 2_000; id <= 2_010; id++) await state.note("a", { events: [end(id)] });
  const { events = [] } = (await state.find("a")) ?? {};
  expect(events).toHaveLength(31);
  expect(events[0]?.id).toBe("evt_1");
  expect(events.at(-1)?.id).toBe("evt_2000");
});
