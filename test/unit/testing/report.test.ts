import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../../src/agents/agent.ts";
import { connectAgent } from "../../../src/agents/connect.ts";
import { wav } from "../../../src/testing/files.ts";
import { compareReports, type Report } from "../../../src/testing/report.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { type SimulatedCall, simulateCall } from "../../../src/testing/simulate-call.ts";
import { talkWith, voice, wellBehaved, withEvents } from "./agents.ts";

const markup = `</script><img src=x onerror="alert('&')">`;

/** A call whose tool, arguments and transcript have a text. */
const callWith = (text: string): Promise<SimulatedCall> => {
  const scripted = withEvents(
    scriptedAgent([{ ms: 500 }, { tool: "note", args: { text, list: [text] } }, { ms: 500 }]),
    (events) =>
      events.some(({ type }) => type === "response_done")
        ? [...events, { type: "transcript", who: "agent", text, final: true }]
        : events,
  );
  const agent: Agent = {
    ...scripted,
    tools: { note: { description: "Notes.", run: () => "Noted." } },
  };
  return simulateCall({
    app: (socket) => connectAgent(socket, agent),
    caller: [
      { type: "until-quiet" },
      { type: "press", digits: "4711" },
      { type: "say", voice: voice(600) },
      { type: "until-quiet" },
      { type: "hangup" },
    ],
  });
};

/** What `report` writes. */
const written = async (call: SimulatedCall, options = {}) => {
  const folder = await mkdtemp(join(tmpdir(), "report-"));
  try {
    const inner = join(folder, "new/folder");
    await call.report(inner, options);
    const read = (name: string) => readFile(join(inner, name));
    return {
      json: String(await read("report.json")),
      html: String(await read("report.html")),
      audio: await wav(join(inner, "call.wav")),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
};

describe("report", () => {
  test("writes the figures, a page and the audio into a folder that is made", async () => {
    const call = await callWith("Table for four.");
    const { json, html, audio } = await written(call);
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(await call.toReport())));
    expect(JSON.parse(json)).toMatchObject({
      version: 1,
      turns: [{ expect: "respond" }],
      tools: [{ name: "note" }],
      transcript: [{ text: "Table for four." }, { text: "Table for four." }],
    });
    expect(html).toContain("Table for four.");
    expect(audio.sampleRate).toBe(8_000);
    expect(audio.audio.length).toBe(Math.round(call.audio.ms * 8));
  });

  test("the audio has what the caller says, and no tone of the keys that they press", async () => {
    const call = await callWith("Table for four.");
    const { audio } = await written(call);
    const audible = (samples: Int16Array) => samples.filter((sample) => sample !== 0).length / 8;
    expect(audible(call.audio.samples("callee"))).toBeGreaterThan(900);
    expect(Math.abs(audible(audio.audio) - 600)).toBeLessThan(10);
  });

  test("a text of a transcript or a tool is never markup, and the page has no script and loads nothing", async () => {
    const { html } = await written(await callWith(markup));
    expect(html).not.toContain("<img");
    expect(html).not.toContain("<script");
    expect(html).toContain("&lt;img");
    expect(html).not.toMatch(/(?:src|href)="(?!data:)/);
    expect(html).toContain("default-src &#39;none&#39;");
  });

  test("the picture has a line where the agent was cut off, and none where it had fallen silent", async () => {
    const silence = new Int16Array(32_000);
    const call = await talkWith(scriptedAgent([{ ms: 1_000 }, { ms: 6_000 }, { audio: silence }]), {
      caller: [
        { type: "until-quiet" },
        { type: "say", voice: voice(800) },
        { type: "until-speech", ms: 1_000 },
        { type: "say", voice: voice(600), expect: "stop" },
        { type: "silence", ms: 1_500 },
        { type: "say", voice: voice(600) },
        { type: "hangup" },
      ],
    });
    expect(call.audio.cuts.map(({ samples }) => samples > 0)).toEqual([false, true, true]);
    const { html } = await written(call);
    expect(html.match(/class="cut"/g)).toHaveLength(1);
  });

  test("redact changes each text of the transcript and of arguments", async () => {
    const { json, html } = await written(await callWith("Ann Smith"), {
      redact: (text: string) => text.replace("Ann Smith", "***"),
    });
    expect(json + html).not.toContain("Ann Smith");
    expect(JSON.parse(json).tools[0].args).toEqual({ text: "***", list: ["***"] });
  });

  test("keys are nowhere in it", async () => {
    const { json, html } = await written(await callWith("x"));
    expect(json).not.toContain("4711");
    expect(html.replace(/base64,[^"]*/, "")).not.toContain("4711");
  });
});

describe("compareReports", () => {
  const reportOf = async (think: number): Promise<Report> =>
    (await talkWith(wellBehaved({ think }))).toReport();

  test("returns the figures that are worse by both percent and floor", async () => {
    const [baseline, slow] = [await reportOf(0), await reportOf(200)];
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
    const baseline = await reportOf(0);
    const [first, ...others] = baseline.turns;
    if (!first) throw new Error("has no turn");
    const now = { ...baseline, turns: [{ ...first, missed: true as const }, ...others] };
    expect(compareReports(now, baseline, { percent: 1_000, floor: 1_000 })).toEqual([
      { figure: "turns.missed", now: 1, baseline: 0 },
    ]);
  });

  test("one stop less is worse: the agent talks on through an interruption", async () => {
    const report = await reportOf(0);
    const baseline = { ...report, stop: { ...report.stop, n: 2, p50: 100, max: 100 } };
    const now = { ...baseline, stop: { ...baseline.stop, n: 1 } };
    expect(compareReports(now, baseline)).toEqual([{ figure: "stop.n", now: 1, baseline: 2 }]);
    expect(compareReports(baseline, now)).toEqual([]);
  });

  test("refuses calls with another script, voice, line, seed, detector or duration, by name", async () => {
    const baseline = await reportOf(0);
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
      const baseline = await reportOf(0);
      const compare = () => Reflect.apply(compareReports, undefined, [baseline, baseline, rules]);
      expect(compare).toThrow(/percent|floor|unknown/);
    },
  );

  test.each([null, {}, { version: 1, turns: [] }])("refuses the baseline %j", async (baseline) => {
    const now = await reportOf(0);
    const compare = () => Reflect.apply(compareReports, undefined, [now, baseline]);
    expect(compare).toThrow("baseline must be a report of version 1");
  });

  test("refuses a call whose frames were late", async () => {
    const baseline = await reportOf(0);
    const late = { ...baseline, trust: { ...baseline.trust, ok: false } };
    expect(() => compareReports(late, baseline)).toThrow(/frames were late/);
  });
});

test.each([
  ["/nowhere/at/all.wav", /source can't be read/],
  [new Uint8Array(100), /must be a WAV/],
])("wav refuses what is none", async (source, message) => {
  await expect(wav(source)).rejects.toThrow(message);
});
