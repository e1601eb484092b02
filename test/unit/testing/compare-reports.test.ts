import { describe, expect, test } from "vitest";
import type { Agent, AgentEvent } from "../../../src/agents/agent.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { summaryOf } from "../../../src/lib/summary.ts";
import {
  compareReports,
  type Report,
  scriptedAgent,
  simulateCall,
} from "../../../src/testing/index.ts";
import { talkWith, voice, wellBehaved, withEvents } from "./agents.ts";

const tools = { book: { description: "Books.", run: () => "Booked." } };

/** The report of a call in which the caller asks three times, and the agent books at the second answer. */
const reportOf = async (agent: Agent): Promise<Report> => {
  const call = await simulateCall({
    app: (socket) => connectAgent(socket, { ...agent, tools }),
    caller: [
      ...[500, 600, 700].flatMap((ms) => [
        // Longer than an agent that hangs up waits for the caller.
        { type: "until-quiet", ms: 3_000 } as const,
        { type: "say", voice: voice(ms) } as const,
      ]),
      { type: "until-quiet" },
      { type: "hangup" },
    ],
  });
  return call.toReport();
};

const complete = [
  { ms: 500 },
  { ms: 600 },
  { tool: "book", args: { people: 4 } },
  { ms: 700 },
  { ms: 800 },
] as const;

describe("an agent that does less", () => {
  test("ends the call early: the turns, the responses, the calls of its tools, and the end are findings", async () => {
    const baseline = await reportOf(scriptedAgent(complete));
    const hangsUp = withEvents(scriptedAgent(complete), (events) =>
      events.flatMap((event): readonly AgentEvent[] =>
        event.type === "response_done" && event.response === "answer 2"
          ? [event, { type: "tool", id: "end", name: "hang_up", arguments: {} }]
          : [event],
      ),
    );
    const now = await reportOf(hangsUp);
    expect([baseline.end.session, now.end.session]).toEqual(["hung_up", "agent_hung_up"]);
    expect(compareReports(now, baseline)).toEqual([
      { figure: "turns.n", now: 1, baseline: 3 },
      { figure: "response.n", now: 1, baseline: 3 },
      { figure: "end.session", now: now.end.session, baseline: "hung_up" },
      { figure: "tools.book.n", now: 0, baseline: 1 },
    ]);
    expect(compareReports(baseline, baseline)).toEqual([]);
  });

  test("no longer calls its tool, or calls one that it did not call", async () => {
    const baseline = await reportOf(scriptedAgent(complete));
    const now = { ...baseline, tools: [] };
    expect(compareReports(now, baseline, { percent: 1_000, floor: 1_000 })).toEqual([
      { figure: "tools.book.n", now: 0, baseline: 1 },
    ]);
    // What is booked where nothing was is as wrong.
    expect(compareReports(baseline, now)).toEqual([
      { figure: "tools.book.n", now: 1, baseline: 0 },
    ]);
  });

  test("talks until the longest duration ends the call, where the caller has hung up before", async () => {
    const reportFor = async (ms: number): Promise<Report> => {
      const call = await simulateCall({
        app: (socket) => connectAgent(socket, scriptedAgent([{ ms: 800 }, { ms }])),
        caller: [
          ...([{ type: "until-quiet" }, { type: "say", voice: voice(800) }] as const),
          ...([{ type: "until-quiet" }, { type: "hangup" }] as const),
        ],
        maxDuration: 20_000,
      });
      return call.toReport();
    };
    expect(compareReports(await reportFor(19_000), await reportFor(900))).toEqual([
      { figure: "end.reason", now: "max_duration", baseline: "normal" },
    ]);
  });

  test("talks on where it has stopped before", async () => {
    const deaf = withEvents(wellBehaved(), (events) =>
      events.filter(({ type }) => type !== "interrupted"),
    );
    const [baseline, now] = await Promise.all(
      [wellBehaved(), deaf].map(async (agent) => (await talkWith(agent)).toReport()),
    );
    if (!baseline || !now) throw new Error("no report");
    expect(compareReports(now, baseline)).toContainEqual({
      figure: "turns.talkedOn",
      now: 1,
      baseline: 0,
    });
  });
});

describe("an agent that is worse where the median and the maximum stay", () => {
  const respond = { from: 0, to: 500, expect: "respond" } as const;
  /** A report whose turns had these responses. */
  const responding = async (responses: readonly number[]): Promise<Report> => {
    const report = await reportOf(scriptedAgent([{ ms: 500 }]));
    const turns = responses.map((response) => ({ ...respond, response }));
    return { ...report, turns, response: summaryOf(responses) };
  };
  const some = (count: number, ms: number) => Array<number>(count).fill(ms);

  test("responds late in nine turns of 19, where it was late in one", async () => {
    const [baseline, now] = [
      await responding([...some(18, 500), 1_900]),
      await responding([...some(10, 500), ...some(9, 1_900)]),
    ];
    expect(compareReports(now, baseline)).toEqual([
      { figure: "response.11", now: 1_900, baseline: 500 },
    ]);
    expect(compareReports(now, baseline, { floor: 2_000 })).toEqual([]);
    expect(compareReports(baseline, now)).toEqual([]);
  });

  test("the same responses in another order are no worse", async () => {
    const responses = [400, 900, 500, 700];
    const [baseline, now] = [await responding(responses), await responding(responses.toReversed())];
    expect(compareReports(now, baseline)).toEqual([]);
  });

  test("cuts in sooner than it did", async () => {
    const [baseline, now] = [await responding([-100, 300]), await responding([-5_000, 300])];
    expect(compareReports(now, baseline)).toEqual([
      { figure: "response.cutIn", now: 5_000, baseline: 100 },
    ]);
  });

  const report = reportOf(scriptedAgent(complete));
  test.each([
    ["tools.book.n", { tools: 2 }, 2, 1],
    ["deadAir.total", { total: 9_900 }, 9_900, 7_100],
    ["end.outcome", { outcome: "failed" }, "failed", "transferred"],
  ] as const)("%s", async (figure, given, now, before) => {
    const { tools: some, deadAir, end, ...rest } = await report;
    const made = ({ tools = 1, total = 7_100, outcome = "transferred" }): Report => ({
      ...rest,
      tools: Array.from({ length: tools }, () => some).flat(),
      deadAir: { ...deadAir, total },
      end: { ...end, outcome },
    });
    expect(compareReports(made(given), made({}))).toEqual([{ figure, now, baseline: before }]);
  });
});

describe("a report of a file that is broken is refused, by its field", () => {
  const broken: readonly (readonly [field: string, change: object])[] = [
    ["overlap is missing", { overlap: undefined }],
    ["overlap must be finite, not NaN", { overlap: Number.NaN }],
    ["overlap must be a number, not null", { overlap: null }],
    ["response.p50 must be a number, not a string", { response: { n: 1, p50: "500" } }],
    ["response.n is missing", { response: {} }],
    ["stop must be an object, not null", { stop: null }],
    ["turns.0 must be an object, not null", { turns: [null] }],
    ["turns.0.missed must be true, or absent", { turns: [{ missed: "yes" }] }],
    ["turns must be a list, not a string", { turns: "none" }],
    ["tools.0.name must be a string, not a number", { tools: [{ name: 1, isError: false }] }],
    ["tools.0.isError is missing", { tools: [{ name: "book" }] }],
    ["deadAir.count must be a number, not a boolean", { deadAir: { count: true, longest: 1 } }],
    ["end.session must be a string, not an object", { end: { session: {} } }],
    ["trust.ok must be true or false, not a string", { trust: { ok: "yes", detector: "x" } }],
    ["inputs is missing", { inputs: undefined }],
    ["turns.0.from is missing", { turns: [{ to: 1, expect: "respond" }] }],
    ["turns.0.response must be a number, not a string", { turns: [{ response: "500" }] }],
    ['turns.0.expect must be "respond", "stop" or "ignore"', { turns: [{ expect: "talk" }] }],
    ["stop.n must be a whole number, 0 or more", { stop: { n: -1 } }],
    ["response.min must be a number, not null", { response: { n: 1, min: null } }],
    ["deadAir.total is missing", { deadAir: { count: 1, longest: 1 } }],
    ["transcript must be a list, not an object", { transcript: {} }],
    ["tools.0.ms is missing", { tools: [{ name: "book", isError: false, took: 0 }] }],
    ["end.ms is missing", { end: {} }],
    ["trust.late is missing", { trust: { ok: true, detector: "x" } }],
  ];
  test.each(broken)("%s", async (rule, change) => {
    const report = await reportOf(scriptedAgent([{ ms: 500 }]));
    const file: unknown = Object.fromEntries(
      Object.entries({ ...report, ...change }).filter(([, value]) => value !== undefined),
    );
    const compare = (now: unknown, baseline: unknown) => () =>
      Reflect.apply(compareReports, undefined, [now, baseline]);
    expect(compare(report, file)).toThrow(`baseline.${rule}`);
    expect(compare(file, report)).toThrow(`now.${rule}`);
  });
});

test.each(["response", "stop"] as const)(
  "a report whose summary of %s contradicts its turns is refused: figures of it would be compared",
  async (name) => {
    const report = await (await talkWith(wellBehaved())).toReport();
    expect(report[name].n).toBeGreaterThan(0);
    const one = { n: 1, min: 10, p50: 10, max: 10 };
    for (const change of [{ p50: 10 }, { max: 0 }, { n: 0 }, { n: 40, p95: 10 }, one]) {
      const changed = { ...report, [name]: { ...report[name], ...change } };
      expect(() => compareReports(changed, report)).toThrow(`now.${name} contradicts now.turns`);
      expect(() => compareReports(report, changed)).toThrow(`baseline.${name} contradicts`);
    }
    expect(compareReports(JSON.parse(JSON.stringify(report)), report)).toEqual([]);
  },
);

describe("compareReports", () => {
  const thinking = async (think: number): Promise<Report> =>
    (await talkWith(wellBehaved({ think }))).toReport();

  test("returns the figures that are worse by both percent and floor", async () => {
    const [baseline, slow] = [await thinking(0), await thinking(200)];
    expect(compareReports(baseline, baseline)).toEqual([]);
    expect(compareReports(slow, baseline).map(({ figure }) => figure)).toEqual([
      "response.p50",
      "response.max",
      "deadAir.longest",
    ]);
    expect(compareReports(slow, baseline, { percent: 100 })).toEqual([]);
    expect(compareReports(slow, baseline, { floor: 500 })).toEqual([]);
    expect(compareReports(baseline, slow)).toEqual([]);
  });

  test("one more fault is worse, whatever the rules", async () => {
    const baseline = await thinking(0);
    const [first, ...others] = baseline.turns;
    if (!first) throw new Error("has no turn");
    const now = { ...baseline, turns: [{ ...first, missed: true as const }, ...others] };
    expect(compareReports(now, baseline, { percent: 1_000, floor: 1_000 })).toEqual([
      { figure: "turns.missed", now: 1, baseline: 0 },
    ]);
  });

  test("one stop less is worse: the agent talks on through an interruption", async () => {
    const report = await thinking(0);
    const stopping = (...stops: readonly (number | undefined)[]): Report => ({
      ...report,
      turns: report.turns.map((turn, at) => ({ ...turn, stop: stops[at] })),
      stop: summaryOf(stops.flatMap((stop) => stop ?? [])),
    });
    const [baseline, now] = [stopping(100, 100), stopping(100)];
    expect(compareReports(now, baseline)).toEqual([{ figure: "stop.n", now: 1, baseline: 2 }]);
    expect(compareReports(baseline, now)).toEqual([]);
  });

  test("the same samples that are to be ignored make another script", async () => {
    const { audio } = voice(600);
    const [baseline, now] = await Promise.all(
      (["respond", "ignore"] as const).map(async (expected) => {
        const heard = { type: "say", audio, expect: expected } as const;
        const call = await talkWith(wellBehaved(), { caller: [heard, { type: "hangup" }] });
        return call.toReport();
      }),
    );
    if (!baseline || !now) throw new Error("no report");
    expect(() => compareReports(now, baseline)).toThrow(/must be of a call with the same script/);
  });

  test("refuses calls with another script, voice, line, seed, detector or duration, by name", async () => {
    const baseline = await thinking(0);
    const short = await (await talkWith(wellBehaved(), { maxDuration: 60_000 })).toReport();
    expect(() => compareReports(short, baseline)).toThrow(/detector and maxDuration/);
    const other = await (await talkWith(wellBehaved(), { line: { seed: 2 } })).toReport();
    const voices = await Promise.all(
      [600, 601].map(async (ms) =>
        (
          await talkWith(wellBehaved(), {
            caller: [{ type: "say", voice: voice(ms) }, { type: "hangup" }],
          })
        ).toReport(),
      ),
    );
    expect(() => compareReports(other, baseline)).toThrow(/must be of a call with the same script/);
    const detector = { name: "another", detect: () => [] };
    const detected = await (await talkWith(wellBehaved(), { detector })).toReport();
    expect(() => compareReports(detected, baseline)).toThrow(/must be of a call with the same/);
    expect(new Set(voices.map(({ inputs }) => inputs)).size).toBe(2);
  });

  test.each([{ percent: Number.NaN }, { floor: "30" }, { percentage: 10 }])(
    "refuses the rules %j: a typo must not pass a slower agent",
    async (rules) => {
      const baseline = await thinking(0);
      const compare = () => Reflect.apply(compareReports, undefined, [baseline, baseline, rules]);
      expect(compare).toThrow(/percent|floor|unknown/);
    },
  );

  test.each([null, {}, { version: 2, turns: [] }])("refuses the baseline %j", async (baseline) => {
    const now = await thinking(0);
    const compare = () => Reflect.apply(compareReports, undefined, [now, baseline]);
    expect(compare).toThrow("baseline must be a report of version 1");
  });

  test("refuses a call whose frames were late", async () => {
    const baseline = await thinking(0);
    const late = { ...baseline, trust: { ...baseline.trust, ok: false } };
    expect(() => compareReports(late, baseline)).toThrow(/now can't be compared: frames were late/);
  });
});
