import { describe, expect, test, vi } from "vitest";
import { levelOf } from "../../conformance/models/model.ts";
import { heardOf, speech, talkInTime } from "../../conformance/models/talk-in-time.ts";
import { carriers } from "../carriers/carriers.ts";

const lines = [
  { line: "outdial's own interface", service: undefined },
  ...carriers.map(({ name, service }) => ({ line: name, service })),
];

const caller = [
  { type: "silence", ms: 500 },
  { type: "say", voice: speech(800) },
  { type: "until-quiet", ms: 3_000 },
  { type: "hangup" },
] as const;

/** What a response takes whose model doesn't fail, in ms. */
const plain = 500;

describe.each(lines)("on $line", ({ service }) => {
  test.each([
    { failures: [], later: 0 },
    { failures: [0], later: 350 },
    { failures: [0, 1], later: 1_450 },
  ])(
    "after $failures.length failed responses the callee hears one, all of it and once, $later ms later",
    async ({ failures, later }) => {
      const answers = [...failures.map(() => 0), 900, 900];
      const talk = await talkInTime({ service, caller, failures, answers });
      const heard = heardOf(talk, levelOf(failures.length));
      expect(Math.abs(heard.ms - 900)).toBeLessThanOrEqual(20);
      const [turn] = talk.call.turns;
      expect(Math.abs((turn?.response ?? Number.NaN) - plain - later)).toBeLessThanOrEqual(40);
      expect(heardOf(talk, levelOf(failures.length + 1)).ms).toBe(0);
      expect(talk.errors).toHaveLength(failures.length);
    },
  );
});

test("after three failed responses the call ends, and not after half a minute of silence", async () => {
  const talk = await talkInTime({ caller, failures: [0, 1, 2], answers: [0, 0, 0] });
  expect(talk.end.reason).toBe("agent_silent");
  expect(talk.call.end.ms).toBeLessThan(5_000);
});

test("what the callee has heard a part of isn't said again, and a tool isn't run again", async () => {
  const run = vi.fn(() => "Booked.");
  const talk = await talkInTime({
    caller,
    failures: [0],
    answers: [400, 900],
    calls: { 0: { name: "book", args: {} } },
    tools: { book: { description: "Books.", run } },
  });
  expect(run).toHaveBeenCalledOnce();
  expect(Math.abs(heardOf(talk, levelOf(0)).ms - 400)).toBeLessThanOrEqual(20);
  // The response to the tool's result, and no other.
  expect(Math.abs(heardOf(talk, levelOf(1)).ms - 900)).toBeLessThanOrEqual(20);
  expect(heardOf(talk, levelOf(2)).ms).toBe(0);
});

test("while the callee speaks nothing is asked for again: the service responds to that", async () => {
  const talk = await talkInTime({
    failures: [0],
    answers: [0, 900, 900],
    caller: [
      { type: "silence", ms: 500 },
      { type: "say", voice: speech(800) },
      { type: "silence", ms: 620 },
      { type: "say", voice: speech(2_000) },
      { type: "until-quiet", ms: 3_000 },
      { type: "hangup" },
    ],
  });
  const asked = talk.model.received.filter(({ type }) => type === "response.create");
  expect(asked).toEqual([]);
  expect(Math.abs(heardOf(talk, levelOf(1)).ms - 900)).toBeLessThanOrEqual(20);
});
