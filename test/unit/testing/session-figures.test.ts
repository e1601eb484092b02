import { describe, expect, test } from "vitest";
import type { Agent, AgentEvent, CallTranscript } from "../../../src/agents/agent.ts";
import type {
  AnsweredTurn,
  CalledTool,
  Interruption,
  SessionOptions,
} from "../../../src/agents/options.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import type { CalleeAct } from "../../../src/emulator/callee-script.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { simulateCall } from "../../../src/testing/simulate-call.ts";
import { voice, withEvents } from "./agents.ts";

const speaks = (count: number): readonly CalleeAct[] => [
  ...Array.from({ length: count }, (_, at) => [
    { type: "until-quiet" } as const,
    { type: "say", voice: voice(500 + 40 * at) } as const,
  ]).flat(),
  { type: "until-quiet" },
  { type: "hangup" },
];

/** A call, and the figures of its session. */
const talk = async (
  agent: Agent,
  caller: readonly CalleeAct[],
  latency = 0,
  options: SessionOptions = {},
) => {
  const sessions: ReturnType<typeof connectAgent>[] = [];
  const call = await simulateCall({
    app: (socket) => {
      sessions.push(connectAgent(socket, agent, options));
    },
    caller,
    line: { latency },
  });
  const [session] = sessions;
  if (!session) throw new Error("no session");
  return { call, metrics: session.metrics };
};

const greetAndAnswer = (count: number) => Array.from({ length: count + 1 }, () => ({ ms: 700 }));

test.each([0, 120])(
  "the turns of a session are the responses at the caller's ear, without the line's latency of %i ms each way",
  async (latency) => {
    const { call, metrics } = await talk(scriptedAgent(greetAndAnswer(3)), speaks(3), latency);
    expect(metrics.turns.n).toBe(3);
    for (const figure of ["min", "p50", "max"] as const) {
      const atTheEar = (call.response[figure] ?? Number.NaN) - 2 * latency;
      expect(Math.abs((metrics.turns[figure] ?? Number.NaN) - atTheEar)).toBeLessThanOrEqual(20);
    }
    expect(metrics.turns).not.toHaveProperty("p95");
  },
);

test("from 20 turns there is a p95", async () => {
  // Each response in two messages, as most agents send more than one.
  const agent = withEvents(scriptedAgent(greetAndAnswer(20)), (events) =>
    events.flatMap((event): readonly AgentEvent[] => {
      if (event.type !== "audio") return [event];
      const { audio } = event;
      const half = audio.length / 2;
      return [audio.slice(0, half), audio.slice(half)].map((part) => ({ ...event, audio: part }));
    }),
  );
  const { metrics } = await talk(agent, speaks(20));
  expect(metrics.turns.n).toBe(20);
  expect(metrics.turns.p95).toBeGreaterThan(400);
});

test("what the callee says while the agent speaks on is no turn, and neither is a click", async () => {
  const deaf = withEvents(scriptedAgent([{ ms: 3_000 }, { ms: 500 }, { ms: 500 }]), (events) =>
    events.filter(({ type }) => type !== "interrupted"),
  );
  const { metrics } = await talk(deaf, [
    { type: "until-speech", ms: 500 },
    { type: "say", voice: voice(300) },
    { type: "until-quiet" },
    { type: "say", voice: voice(60) },
    { type: "until-quiet" },
    { type: "hangup" },
  ]);
  expect(metrics.turns).toEqual({ n: 0 });
});

test("an interrupted agent's response counts from the end of the interruption", async () => {
  const { call, metrics } = await talk(scriptedAgent([{ ms: 3_000 }, { ms: 500 }]), [
    { type: "until-speech", ms: 500 },
    { type: "say", voice: voice(900), expect: "stop" },
    { type: "until-quiet" },
    { type: "hangup" },
  ]);
  expect(metrics.turns.n).toBe(1);
  expect(
    Math.abs((metrics.turns.max ?? Number.NaN) - (call.response.max ?? 0)),
  ).toBeLessThanOrEqual(20);
});

test("texts, tools and interruptions have the milliseconds of the call", async () => {
  const tools: CalledTool[] = [];
  const texts: CallTranscript[] = [];
  const interruptions: Interruption[] = [];
  const scripted = scriptedAgent([
    { ms: 3_000 },
    { tool: "book", args: { people: 4 } },
    { ms: 500 },
  ]);
  const withTexts = withEvents(scripted, (events) =>
    events.flatMap((event): readonly AgentEvent[] =>
      event.type === "response_started"
        ? [event, { type: "transcript", who: "agent", text: "Hello.", final: true }]
        : [event],
    ),
  );
  const agent = { ...withTexts, tools: { book: { description: "Books.", run: () => "Booked." } } };
  const { call } = await talk(
    agent,
    [
      { type: "until-speech", ms: 1_000 },
      { type: "say", voice: voice(600), expect: "stop" },
      { type: "until-quiet" },
      { type: "hangup" },
    ],
    0,
    {
      onTool: (tool) => tools.push(tool),
      onTranscript: (text) => texts.push(text),
      onInterrupted: (interruption) => interruptions.push(interruption),
    },
  );
  const [turn] = call.turns;
  const end = turn?.to ?? Number.NaN;
  expect(tools).toEqual([
    { name: "book", args: { people: 4 }, ms: expect.any(Number), took: 0, isError: false },
  ]);
  // 500 ms of patience, and a frame.
  expect(Math.abs((tools[0]?.ms ?? Number.NaN) - end - 500)).toBeLessThanOrEqual(40);
  expect(texts.map(({ text }) => text)).toEqual(["Hello.", "Hello."]);
  expect(Math.abs((texts[1]?.ms ?? Number.NaN) - end - 500)).toBeLessThanOrEqual(40);
  expect(
    Math.abs((interruptions[0]?.ms ?? Number.NaN) - (turn?.from ?? Number.NaN)),
  ).toBeLessThanOrEqual(40);
  expect(call.tools[0]).toMatchObject({ name: "book", args: { people: 4 } });
});

test("each response to the callee is reported once, with its latency, when it was played or cut off", async () => {
  const reports: AnsweredTurn[] = [];
  const { call, metrics } = await talk(
    scriptedAgent([{ ms: 700 }, { ms: 1_500 }, { ms: 4_000 }, { ms: 4_000 }]),
    [
      { type: "until-quiet" },
      { type: "say", voice: voice(500) },
      { type: "until-quiet" },
      { type: "say", voice: voice(500) },
      { type: "until-speech", ms: 1_000 },
      { type: "say", voice: voice(500), expect: "stop" },
      { type: "until-speech", ms: 1_000 },
      { type: "hangup" },
    ],
    0,
    {
      onTurn: (turn) => void reports.push(turn),
    },
  );
  expect(reports.map(({ interrupted }) => interrupted)).toEqual([false, true, true]);
  for (const [at, { latency }] of reports.entries()) {
    expect(Math.abs(latency - (call.turns[at]?.response ?? Number.NaN))).toBeLessThanOrEqual(20);
  }
  expect(metrics.turns.n).toBe(3);
});

describe("what the service counts", () => {
  const counting = (...counts: readonly object[]) =>
    withEvents(scriptedAgent(greetAndAnswer(3)), (events) =>
      events.flatMap((event): readonly AgentEvent[] =>
        event.type === "response_done"
          ? [event, ...counts.map((count) => ({ type: "usage", ...count }) as const)]
          : [event],
      ),
    );

  test("is in the figures: summed, or as the service's own total", async () => {
    const counted = counting({ tokens: 100 }, { seconds: 7, total: true });
    const { metrics } = await talk(counted, speaks(3));
    expect(metrics.usage).toEqual({ tokens: 400, seconds: 7 });
    const none = await talk(scriptedAgent(greetAndAnswer(1)), speaks(1));
    expect(none.metrics.usage).toEqual({});
  });

  test("ends the call above maxTokens, once what was said was played", async () => {
    const options = { maxTokens: 200 };
    const { call, metrics } = await talk(counting({ tokens: 100 }), speaks(3), 0, options);
    expect([call.end.session, metrics.usage.tokens]).toEqual(["too_many_tokens", 300]);
    const { sample_rate } = call.audio;
    const audible = call.audio.samples("application").filter(Boolean).length / sample_rate;
    expect(audible).toBeGreaterThan(3 * 0.68); // The greeting and two responses, to their end.
  });
});
