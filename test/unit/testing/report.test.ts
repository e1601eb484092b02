import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../../src/agents/agent.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { wav } from "../../../src/testing/files.ts";
import type { Report } from "../../../src/testing/report.ts";
import { pageOf } from "../../../src/testing/report-page.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { type SimulatedCall, simulateCall } from "../../../src/testing/simulate-call.ts";
import { talkWith, voice, withEvents } from "./agents.ts";

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

  test("an agent that talked on is among the faults, and by how much", async () => {
    const deaf = withEvents(scriptedAgent([{ ms: 7_000 }]), (events) =>
      events.filter(({ type }) => type !== "interrupted"),
    );
    const call = await talkWith(deaf, {
      caller: [
        { type: "until-speech", ms: 2_000 },
        { type: "say", voice: voice(600), expect: "stop" },
        { type: "until-quiet" },
        { type: "hangup" },
      ],
    });
    expect(call.turns).toMatchObject([{ talkedOn: true, missed: true }]);
    const { html } = await written(call);
    expect(html).toContain("the agent talked on for 5000 ms, no response");
  });

  test("a figure that can't be trusted is marked on the page, by name", async () => {
    const call = await talkWith(scriptedAgent([{ ms: 500 }, { ms: 500 }]));
    const { turns, trust } = await call.toReport();
    const report = {
      ...(await call.toReport()),
      turns: turns.map((turn, at) => (at === 0 ? { ...turn, late: 250 } : turn)),
      trust: { ...trust, ok: false, latest: 250, late: ["turns"], differs: ["response"] },
    };
    const doubtsOf = async (given: Report) =>
      (await pageOf(given, call.audio, call.audio.wav()))
        .split(/[<>]/)
        .filter((text) => text.includes("t trust th"));
    expect(await doubtsOf(report)).toEqual([
      "Frames were late by 0 ms on average, and by 250 ms at most, in turns: don't trust these figures.",
      "Two runs differ in response: don't trust these figures.",
      "frames were late by 250 ms: don&#39;t trust this turn",
    ]);
    expect(await doubtsOf(await call.toReport())).toEqual([]);
  });

  test("redact changes each text of the transcript and of arguments", async () => {
    const { json, html } = await written(await callWith("Ann Smith"), {
      redact: (text: string) => text.replace("Ann Smith", "***"),
    });
    expect(json + html).not.toContain("Ann Smith");
    expect(JSON.parse(json).tools[0].args).toEqual({ text: "***", list: ["***"] });
  });

  test.each([
    [{ redcat: (text: string) => text }, "redcat is unknown: did you mean redact?"],
    [(text: string) => text, "options must be an object, not a function"],
    [{ redact: true }, "redact must be a function"],
    [null, "options must be an object, not null"],
  ])("refuses the options %j by name: a typo must not commit a name", async (options, message) => {
    const call = await callWith("Ann Smith");
    const write = () => Reflect.apply(call.toReport, undefined, [options]);
    await expect(write()).rejects.toThrow(message);
  });

  test("its audio is that of call.wav: the tones of keys are in neither", async () => {
    const { html, audio } = await written(await callWith("Table for four."));
    const [, inPage = ""] = /base64,([^"]*)"/.exec(html) ?? [];
    expect(await wav(Buffer.from(inPage, "base64"))).toEqual(audio);
  });

  test("keys are nowhere in it", async () => {
    const { json, html } = await written(await callWith("x"));
    expect(json).not.toContain("4711");
    expect(html.replace(/base64,[^"]*/, "")).not.toContain("4711");
  });
});

test.each([
  ["/nowhere/at/all.wav", /source can't be read/],
  [new Uint8Array(100), /must be a WAV/],
])("wav refuses what is none", async (source, message) => {
  await expect(wav(source)).rejects.toThrow(message);
});
