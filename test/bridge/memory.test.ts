import type { Event } from "outdial/callbacks";
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

test("only the first who claims a call gets it", async () => {
  const state = memory();
  expect(await Promise.all(["a", "a", "b"].map(state.claim))).toEqual([true, false, true]);
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
