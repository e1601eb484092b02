import { describe, expect, test } from "vitest";
import type { Agent, AgentEvent } from "../../../src/agents/agent.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { type SimulatedCall, simulateCall } from "../../../src/testing/simulate-call.ts";
import { answers, talkWith, voice, wellBehaved, withEvents } from "./agents.ts";

/** The figures of a call that a fault of an agent can change. */
const figuresOf = ({ turns, stop, overlap, deadAir, tools }: SimulatedCall) => ({
  responses: turns.filter(({ expect }) => expect !== "ignore").map(({ response }) => response),
  stop: stop.max,
  cutIns: turns.filter(({ cutIn }) => cutIn).length,
  falseStops: turns.filter(({ falseStop }) => falseStop).length,
  spurious: turns.filter(({ spurious }) => spurious).length,
  missed: turns.filter(({ missed }) => missed).length,
  overlap,
  deadAir: deadAir.count,
  tools: tools.map(({ name, args }) => [name, args]),
});

type Figures = ReturnType<typeof figuresOf>;

/** The truth about the agent that behaves well: it answers after 500 ms, and stops once it has heard 300 ms of speech. */
const truth = {
  responses: [500, 500, 500],
  stop: 300,
  cutIns: 0,
  falseStops: 0,
  spurious: 0,
  missed: 0,
  deadAir: 0,
};

/** Compares within 10 ms, or a frame where a figure depends on when a frame began. */
const expectFigures = (figures: Figures, wanted: Partial<Figures>): void => {
  const { responses = truth.responses, stop = truth.stop, ...rest } = wanted;
  expect(figures.responses).toHaveLength(responses.length);
  for (const [at, response] of responses.entries()) {
    const found = figures.responses[at];
    if (response === undefined) expect(found).toBeUndefined();
    else expect(Math.abs((found ?? Number.NaN) - response), `response ${at + 1}`).toBeLessThan(21);
  }
  if (stop !== undefined) expect(Math.abs((figures.stop ?? Number.NaN) - stop)).toBeLessThan(21);
  expect(figures).toMatchObject({
    cutIns: 0,
    falseStops: 0,
    spurious: 0,
    missed: 0,
    deadAir: 0,
    ...rest,
  });
};

test("an agent that behaves well has the figures that it was made with", async () => {
  expectFigures(figuresOf(await talkWith(wellBehaved())), {});
});

describe("a fault of an agent changes its own figure, and no other", () => {
  for (const late of [400, 613, 900]) {
    test(`late by ${late} ms: the responses`, async () => {
      const responses = truth.responses.map((ms) => ms + late);
      expectFigures(figuresOf(await talkWith(wellBehaved({ think: late }))), { responses });
    });
  }

  test("deaf: the stop, and the overlap", async () => {
    const agent = withEvents(wellBehaved(), (events) =>
      events.filter(({ type }) => type !== "interrupted"),
    );
    const call = await talkWith(agent);
    expect(call.stop.max).toBeGreaterThan(2_000);
    expect(call.overlap).toBeGreaterThan(0.05);
  });

  test("mute in one turn: a missed response, and dead air", async () => {
    let turns = 0;
    const agent = withEvents(wellBehaved(), (events) => {
      if (events.some(({ type }) => type === "response_started")) turns++;
      return turns === 4 ? [] : events;
    });
    const figures = figuresOf(await talkWith(agent));
    expectFigures(figures, { responses: [500, 500, undefined], missed: 1, deadAir: 1 });
  });

  test("stops at a cough: a false stop", async () => {
    const call = await simulateCall({
      app: (socket) => connectAgent(socket, scriptedAgent(answers)),
      caller: [
        { type: "until-speech", ms: 500 },
        { type: "say", voice: voice(150), expect: "ignore" },
        { type: "until-quiet" },
        { type: "hangup" },
      ],
    });
    expect(call.turns).toMatchObject([{ falseStop: true }]);
    expect((await talkWith(wellBehaved())).turns[1]).not.toHaveProperty("falseStop");
  });

  test.each([300, 500, 900])(
    "stops at a cough, or answers one, on a line with %i ms each way: the same",
    async (latency) => {
      const cough = { type: "say", voice: voice(150), expect: "ignore" } as const;
      const call = await simulateCall({
        app: (socket) => connectAgent(socket, scriptedAgent(answers, { think: 700 })),
        line: { latency },
        caller: [
          { type: "until-quiet" },
          cough,
          { type: "until-speech", ms: 500 },
          cough,
          { type: "until-quiet" },
          { type: "hangup" },
        ],
      });
      const [answered, stopped] = call.turns;
      expect(answered).toMatchObject({ spurious: true });
      expect(stopped).toMatchObject({ falseStop: true });
    },
  );

  test("answers a cough: a spurious response", async () => {
    const call = await simulateCall({
      app: (socket) => connectAgent(socket, scriptedAgent(answers)),
      caller: [
        { type: "until-quiet" },
        { type: "say", voice: voice(150), expect: "ignore" },
        { type: "until-quiet" },
        { type: "hangup" },
      ],
    });
    expect(call.turns).toMatchObject([{ spurious: true }]);
  });

  test("eager: a cut-in where the caller pauses", async () => {
    const caller = [
      { type: "until-quiet" },
      {
        type: "say",
        voice: {
          sampleRate: 8_000,
          audio: Int16Array.from([
            ...voice(600).audio,
            ...new Int16Array(2_400),
            ...voice(600).audio,
          ]),
        },
      },
      { type: "until-quiet" },
      { type: "hangup" },
    ] as const;
    const talk = (patience: number) =>
      simulateCall({
        app: (socket) => connectAgent(socket, scriptedAgent(answers, { patience })),
        caller,
      });
    expect((await talk(500)).turns).toMatchObject([{ response: expect.closeTo(500, -1) }]);
    const [turn] = (await talk(200)).turns;
    expect(turn).toMatchObject({ cutIn: true });
    // 200 ms of patience, in the pause of 300 ms that ends 600 ms before the end.
    expect(turn?.response).toBeCloseTo(-700, -1.5);
  });

  test("talks over: a cut-in, and the overlap", async () => {
    let isSent = false;
    const audio = new Uint8Array(new Int16Array(16_000).fill(5_000).buffer);
    const agent = withEvents(scriptedAgent([{ ms: 800 }]), (events) => {
      if (isSent || !events.some(({ type }) => type === "interrupted")) return events;
      isSent = true;
      return [
        { type: "response_started", response: "over" },
        { type: "audio", audio, response: "over" },
      ];
    });
    const call = await simulateCall({
      app: (socket) => connectAgent(socket, agent),
      caller: [
        { type: "until-quiet" },
        { type: "say", voice: voice(1_500) },
        { type: "until-quiet" },
        { type: "hangup" },
      ],
    });
    expect(call.turns).toMatchObject([{ cutIn: true }]);
    expect(call.overlap).toBeGreaterThan(0.3);
  });

  test("wrong arguments of a tool: the tools", async () => {
    const talk = (people: number) => {
      const tools = { book: { description: "Books.", run: () => "Booked." } };
      const agent: Agent = {
        ...scriptedAgent([{ ms: 500 }, { tool: "book", args: { people } }, { ms: 900 }]),
        tools,
      };
      return simulateCall({
        app: (socket) => connectAgent(socket, agent),
        caller: [
          { type: "until-quiet" },
          { type: "say", voice: voice(700) },
          { type: "until-quiet" },
          { type: "hangup" },
        ],
      });
    };
    const [right, wrong] = [await talk(4), await talk(8)];
    expect(right.tools).toMatchObject([{ name: "book", args: { people: 4 }, isError: false }]);
    expect(wrong.tools).toMatchObject([{ name: "book", args: { people: 8 } }]);
    expect(wrong.response).toEqual(right.response);
  });

  test("a doubled answer: the call lasts so much longer", async () => {
    const doubled = withEvents(wellBehaved(), (events) => {
      const copies = events.flatMap((event): readonly AgentEvent[] =>
        event.type === "audio" ? [event, { ...event, item: `${event.item} again` }] : [event],
      );
      return copies;
    });
    const [once, twice] = [await talkWith(wellBehaved()), await talkWith(doubled)];
    // The greeting of 1,000 ms, the answer of 1,200 and that of 900; the other is cut off.
    expect(twice.end.ms - once.end.ms).toBeCloseTo(3_100, -2);
  });

  test("late audio after a cancel: it isn't played, so the stop is the same", async () => {
    const audio = new Uint8Array(new Int16Array(16_000).fill(5_000).buffer);
    let open: string | undefined;
    /** The second answer is open until it is interrupted; then more of it comes. */
    const agent = withEvents(wellBehaved(), (events) =>
      events.flatMap((event): readonly AgentEvent[] => {
        if (event.type === "response_done" && event.response === "answer 2") {
          open = event.response;
          return [];
        }
        if (event.type !== "interrupted" || open === undefined) return [event];
        const response = open;
        open = undefined;
        return [
          event,
          { type: "audio", audio, response },
          { type: "response_done", response, outcome: "cancelled" },
        ];
      }),
    );
    expectFigures(figuresOf(await talkWith(agent)), {});
  });

  test("9.5 s that are sent in one message: the connector stops them all the same", async () => {
    const agent = scriptedAgent([{ ms: 9_500 }]);
    const call = await simulateCall({
      app: (socket) => connectAgent(socket, agent),
      line: { latency: 60 },
      caller: [
        { type: "until-speech", ms: 2_000 },
        { type: "say", voice: voice(600), expect: "stop" },
        { type: "hangup" },
      ],
    });
    // Two ways of 60 ms, and a frame.
    expect(call.stop.max).toBeCloseTo(140, -1.5);
  });
});
