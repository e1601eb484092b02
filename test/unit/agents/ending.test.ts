import { expect, test } from "vitest";
import type { ToolContext, Tools } from "../../../src/agents/agent.ts";
import { transferTo } from "../../../src/agents/telephone/transfer-to.ts";
import { levelOf } from "../../conformance/models/model.ts";
import { type ProtocolName, protocolNames } from "../../conformance/models/protocols.ts";
import { heardOf, speech, type Talked, talkInTime } from "../../conformance/models/talk-in-time.ts";
import { carriers } from "../carriers/carriers.ts";

/** What ends a conversation: the tool that a model calls, and how a call ends that it ends. */
const acts = {
  hang_up: ["hang_up", "agent_hung_up"],
  leave: ["bye", "left bye"],
  transferTo: ["transfer", "left transferred"],
} as const;

const actNames = ["hang_up", "leave", "transferTo"] as const;
const lines = [{ name: "own", service: undefined }, ...carriers];
const latencies = [0, 120, 300];
const objections = [-600, -500, -400, -300, -200, -100, 0, 100, 200, 300, 400, 500];

const endOf = ({ end: { reason, outcome } }: Talked) => [reason, outcome].join(" ").trim();

/** A call whose model says its last words and ends it; the callee objects at a time, or is silent. */
const talk = async (
  act: (typeof actNames)[number],
  name: ProtocolName,
  { service }: (typeof lines)[number],
  latency: number,
  objectsAt?: number,
  isDeafToOnsets = false,
) => {
  const transferred: unknown[] = [];
  const targets = { desk: { to: "+12025550100" } };
  const tools: Tools = {
    bye: { description: "Leaves.", run: (_, { session }) => session.leave("bye") },
    transfer: transferTo(targets, { decide: (_, { to }) => transferred.push(to) }),
  };
  const over = await talkInTime({
    ...{ name, service, tools, line: { latency }, answers: [700, 200], isDeafToOnsets },
    calls: { 0: { name: acts[act][0], args: { target: "desk" } } },
    caller: async function* (call) {
      yield { type: "say", voice: speech(400) };
      if (objectsAt !== undefined) {
        yield { type: "until", ms: objectsAt };
        yield { type: "say", voice: speech(300) };
      }
      yield { type: "until", ms: call.ms + 3_500 };
      yield { type: "hangup" };
    },
  });
  const isTold = /the call goes on|not connected/.test(JSON.stringify(over.model.received));
  return { ...over, isTold, transferred, answered: heardOf(over, levelOf(1)).ms > 0 };
};

/** Calls whose callee is silent, by what they are. */
const silent = new Map<string, ReturnType<typeof talk>>();
const silentTalk = (
  act: (typeof actNames)[number],
  name: ProtocolName,
  line: (typeof lines)[number],
  latency: number,
) => {
  const key = [name, line.name, latency].join();
  const made = silent.get(key) ?? talk(act, name, line, latency);
  silent.set(key, made);
  return made;
};

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

const cases = lines.flatMap((line, row) =>
  latencies.map((latency, column) => ({ line, name: line.name, latency, turn: row + column })),
);

test.each(cases)(
  "on the line of $name with $latency ms a silent callee has heard the last words, and 700 ms of silence at most",
  async ({ line, latency, turn }) => {
    for (const [row, name] of protocolNames.entries()) {
      const act = at(actNames, turn + row);
      const talked = await silentTalk(act, name, line, latency);
      const { ms, until } = heardOf(talked, levelOf(0));
      expect([act, name, endOf(talked), ms]).toEqual([act, name, acts[act][1], 700]);
      const silence = talked.call.end.ms - until - 2 * latency;
      expect(silence).toBeGreaterThanOrEqual(590);
      expect(silence).toBeLessThanOrEqual(700);
    }
  },
);

test.each(
  cases.flatMap((each) => actNames.map((act, row) => ({ ...each, act, turn: each.turn + row }))),
)(
  "on the line of $name with $latency ms a callee who speaks 600 ms before the end of the last words to 500 ms after it calls $act off",
  async ({ act, line, latency, turn }) => {
    for (const [step, objection] of objections.entries()) {
      const name = at(protocolNames, turn + step);
      const { until } = heardOf(await silentTalk(act, name, line, latency), levelOf(0));
      const talked = await talk(act, name, line, latency, Math.round(until) + objection);
      const { isTold, transferred, answered } = talked;
      expect({ name, objection, end: endOf(talked), isTold, transferred, answered }).toEqual({
        ...{ name, objection, end: "hung_up", isTold: true, transferred: [], answered: true },
      });
    }
  },
);

test.each(
  (["elevenlabs", "gemini"] as const).flatMap((name) => actNames.map((act) => ({ name, act }))),
)(
  "$name, which reports speech into its silence only by its text: a callee who speaks around the end of the last words calls $act off",
  async ({ name, act }) => {
    for (const [step, objection] of objections.entries()) {
      const line = at(lines, step);
      const { until } = heardOf(await silentTalk(act, name, line, 120), levelOf(0));
      const talked = await talk(act, name, line, 120, Math.round(until) + objection, true);
      const { isTold, transferred, answered } = talked;
      expect({ objection, end: endOf(talked), isTold, transferred, answered }).toEqual({
        ...{ objection, end: "hung_up", isTold: true, transferred: [], answered: true },
      });
    }
  },
);

/** A model whose last words call several tools, and a callee who is silent. */
const severalOf = async (given: readonly (typeof actNames)[number][], name: ProtocolName) => {
  const decided: unknown[] = [];
  const targets = { desk: { to: "+12025550100" } };
  const bye = (outcome: string) => ({
    description: "Leaves.",
    run: (_: unknown, { session }: ToolContext) => session.leave(outcome),
  });
  const transfer = transferTo(targets, { decide: (_, { to }) => decided.push(to) });
  const calls = given.map((act) => ({ name: acts[act][0], args: { target: "desk", at: act } }));
  const talked = await talkInTime({
    ...{ name, tools: { bye: bye("bye"), transfer }, answers: [700, 200], calls: { 0: calls } },
    caller: [
      { type: "say", voice: speech(400) },
      { type: "silence", ms: 5_000 },
      { type: "hangup" },
    ],
  });
  return { end: endOf(talked), decided: decided.length };
};

test.each(protocolNames)(
  "%s: of two that leave the first one does, and the outcome is its own",
  async (name) => {
    expect(await severalOf(["transferTo", "leave"], name)).toEqual({
      ...{ end: "left transferred", decided: 1 },
    });
    expect(await severalOf(["leave", "transferTo"], name)).toEqual({ end: "left bye", decided: 0 });
  },
);

test.each(
  (["deepgram", "elevenlabs"] as const).flatMap((name) =>
    [500, 900, 1_800].map((delay) => ({ name, delay })),
  ),
)(
  "$name: a hang_up that comes $delay ms before the audio of the last words waits for it, as their text has come",
  async ({ name, delay }) => {
    const talked = await talkInTime({
      ...{ name, answers: [700], calls: { 0: { name: "hang_up", args: {} } } },
      speechDelays: { 0: delay },
      caller: [
        { type: "say", voice: speech(400) },
        { type: "silence", ms: 6_000 },
        { type: "hangup" },
      ],
    });
    const { ms, until } = heardOf(talked, levelOf(0));
    expect([endOf(talked), ms]).toEqual(["agent_hung_up", 700]);
    expect(talked.call.end.ms - until).toBeLessThanOrEqual(1_300);
  },
);

test("a text whose audio never comes holds a hang_up for 3 s", async () => {
  const talked = await talkInTime({
    ...{ name: "deepgram", answers: [0], calls: { 0: { name: "hang_up", args: {} } } },
    speechDelays: { 0: 20_000 },
    caller: [
      { type: "say", voice: speech(400) },
      { type: "silence", ms: 9_000 },
      { type: "hangup" },
    ],
  });
  expect(endOf(talked)).toBe("agent_hung_up");
  expect(talked.call.end.ms).toBeGreaterThan(3_600);
  expect(talked.call.end.ms).toBeLessThan(5_000);
});

test("a hang_up waits for what a tool of the same response has asked for, however long the service takes", async () => {
  const spoken: unknown[] = [];
  const talked = await talkInTime({
    answers: [700, 500],
    calls: { 0: ["note", "hang_up"].map((tool) => ({ name: tool, args: {} })) },
    tools: {
      note: {
        description: "Notes.",
        run: (_, { session }) => {
          session.reply("Thank them.").then((how) => spoken.push(how));
        },
      },
    },
    caller: [
      { type: "say", voice: speech(400) },
      { type: "silence", ms: 9_000 },
      { type: "hangup" },
    ],
    latency: 1_500,
  });
  expect([endOf(talked), spoken]).toEqual(["agent_hung_up", ["played"]]);
  expect(heardOf(talked, levelOf(1)).ms).toBe(500);
});

test("last words that are longer than the time of a tool are heard, and the tool has not failed", async () => {
  const talked = await talkInTime({
    ...{ answers: [7_000, 500], calls: { 0: { name: "bye", args: {} } } },
    options: { toolTimeout: 3_000 },
    tools: { bye: { description: "Leaves.", run: (_, { session }) => session.leave("bye") } },
    caller: [
      { type: "say", voice: speech(400) },
      { type: "silence", ms: 12_000 },
      { type: "hangup" },
    ],
  });
  expect([endOf(talked), talked.errors]).toEqual(["left bye", []]);
  expect(heardOf(talked, levelOf(0)).ms).toBe(7_000);
  expect(heardOf(talked, levelOf(1)).ms).toBe(0);
});

test("a callee who speaks up to 600 ms after the last words calls a hang_up off, wherever a frame of the line begins", async () => {
  for (const line of lines) {
    const { until } = heardOf(await silentTalk("hang_up", "openai", line, 0), levelOf(0));
    for (const objection of [571, 583, 591, 599]) {
      const talked = await talk("hang_up", "openai", line, 0, Math.round(until) + objection);
      expect([line.name, objection, endOf(talked)]).toEqual([line.name, objection, "hung_up"]);
    }
  }
});

test("what waits to leave is done alone, also where the application interrupts and the model hangs up", async () => {
  const done: string[] = [];
  const left = (outcome: string) => ({
    description: "Leaves.",
    run: (_: unknown, { session }: ToolContext) => {
      session.leave(outcome, {
        before: async () => {
          done.push(outcome);
          await new Promise((resolve) => setImmediate(resolve));
        },
      });
      return "Say nothing.";
    },
  });
  const calls = ["first", "second", "hang_up"].map((name) => ({ name, args: {} }));
  const { end } = await talkInTime({
    ...{ answers: [700, 0], calls: { 0: calls } },
    tools: { first: left("first"), second: left("second") },
    caller: [
      { type: "say", voice: speech(400) },
      { type: "silence", ms: 6_000 },
      { type: "hangup" },
    ],
    onSession: (session, clock) => clock.after(1_300, () => void session.interrupt()),
  });
  expect([end.reason, end.outcome, done]).toEqual(["left", "first", ["first"]]);
});

test("two that leave and are called off leave no outcome", async () => {
  const left: unknown[] = [];
  const { end } = await talkInTime({
    ...{
      answers: [700, 200],
      calls: {
        0: [
          { name: "bye", args: {} },
          { name: "later", args: {} },
        ],
      },
    },
    tools: Object.fromEntries(
      ["bye", "later"].map((outcome) => [
        outcome,
        {
          description: "Leaves.",
          run: async (_: unknown, { session }: ToolContext) =>
            left.push(await session.leave(outcome)),
        },
      ]),
    ),
    caller: [
      { type: "say", voice: speech(400) },
      { type: "until-quiet", ms: 200 },
      { type: "say", voice: speech(300) },
      { type: "silence", ms: 3_000 },
      { type: "hangup" },
    ],
  });
  expect(left).toEqual(Array(2).fill("The callee spoke: the call goes on."));
  expect([end.reason, end.outcome]).toEqual(["hung_up", undefined]);
});
