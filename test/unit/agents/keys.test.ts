import { inspect } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Agent, AgentMessage, Codec } from "../../../src/agents/agent.ts";
import type { AgentSession } from "../../../src/agents/agent-session.ts";
import { createKeys } from "../../../src/agents/inbound.ts";
import type { SessionOptions } from "../../../src/agents/options.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import type { CalleeAct } from "../../../src/emulator/callee-script.ts";
import { processClock } from "../../../src/lib/clock.ts";
import { createTimers } from "../../../src/lib/timers.ts";
import type { Service } from "../../../src/service.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { simulateCall } from "../../../src/testing/simulate-call.ts";
import { carriers } from "../carriers/carriers.ts";

afterEach(() => void vi.restoreAllMocks());

const pin = "58294071";

/** An agent, and everything that it is sent. */
const spied = (agent: Agent) => {
  const asked: (readonly [name: string, text: string])[] = [];
  let loudest = 0;
  const spy: Agent = {
    ...agent,
    codec: (line) => {
      const codec = agent.codec(line);
      const encode: Codec["encode"] = (audio) => {
        const samples = new Int16Array(audio.buffer, audio.byteOffset, audio.length / 2);
        loudest = Math.max(loudest, ...samples.map(Math.abs));
        return codec.encode(audio);
      };
      const note =
        (name: string) =>
        (text = ""): readonly AgentMessage[] => {
          asked.push([name, text]);
          return [];
        };
      const more = { addContext: note("addContext"), reply: note("reply") };
      return Object.assign(Object.create(codec), { encode, ...more });
    },
  };
  return { agent: spy, asked, loudest: () => loudest };
};

const script: readonly CalleeAct[] = [
  { type: "until-quiet" },
  { type: "press", digits: `${pin}#` },
  { type: "silence", ms: 1_000 },
  { type: "press", digits: "7" },
  { type: "silence", ms: 3_500 },
  { type: "hangup" },
];

const talk = async (
  service: Service | undefined,
  options: SessionOptions = {},
  caller: readonly CalleeAct[] = script,
  time: "virtual" | "real" = "virtual",
) => {
  const { agent, asked, loudest } = spied(scriptedAgent([{ ms: 1_000 }]));
  const told: unknown[] = [];
  const note = (value: unknown) => void told.push(value);
  let session: AgentSession | undefined;
  const call = await simulateCall({
    service,
    caller,
    time,
    app: (socket, simulated) => {
      session = connectAgent(socket, agent, {
        ...simulated,
        onTranscript: note,
        onInterrupted: note,
        onTool: note,
        onMessage: note,
        onMetrics: note,
        onEnd: note,
        onError: note,
        ...options,
      });
    },
  });
  return { call, session, told, asked, loudest: loudest() };
};

/** The keys as they are collected: one call a key, then the end. */
const collected = (keys: string) =>
  [...keys].map((key, at) => ({ key, keys: keys.slice(0, at + 1), done: false }));

describe.each(carriers)("on the line of $name", ({ service }) => {
  test("each key comes to the application, with those before it, until # or 3 s without one", async () => {
    const pressed: unknown[] = [];
    const sessions = new Set<unknown>();
    const { session } = await talk(service, {
      onKeys: (one, given) => {
        pressed.push(one);
        sessions.add(given);
      },
    });
    expect(pressed).toEqual([
      ...collected(pin),
      { key: "#", keys: pin, done: true },
      { key: "7", keys: "7", done: false },
      { keys: "7", done: true },
    ]);
    expect([...sessions]).toEqual([session]);
  });

  test("no key is in any text, nor its tone in what the agent hears", async () => {
    const printed = ["log", "info", "warn", "error", "debug"].map((name) =>
      vi.spyOn(console, name as "log").mockImplementation(() => {}),
    );
    const { call, session, told, asked, loudest } = await talk(service, {
      onKeys: () => {
        throw new Error("a mistake of the application's");
      },
    });
    expect(told).toContainEqual(new Error("a mistake of the application's"));
    const report = await call.toReport();
    const all = [told, session, report, call.transcript, asked].map((each) =>
      inspect(each, { depth: null, showHidden: true, maxArrayLength: null }),
    );
    const calls = printed.flatMap(({ mock }) => mock.calls).map(String);
    expect([...all, ...calls, JSON.stringify(report)].join("\n")).not.toContain(pin);
    expect(asked).toEqual([]);
    expect(loudest).toBe(0);
  });
});

describe.each(carriers)("with keysToAgent on the line of $name", ({ service }) => {
  test("the agent gets them once they are complete, as context, and their tones", async () => {
    const onKeys = vi.fn();
    const { asked, loudest } = await talk(service, { keysToAgent: true, onKeys });
    expect(asked).toEqual([
      ["addContext", `The callee pressed ${pin} on the telephone.`],
      ["addContext", "The callee pressed 7 on the telephone."],
    ]);
    expect(loudest).toBeGreaterThan(1_000);
    expect(onKeys).toHaveBeenCalledTimes(pin.length + 3);
  });

  test("and is asked for one response to each completed input where the application has no function for them", async () => {
    const { asked } = await talk(service, { keysToAgent: true }, [
      { type: "until-quiet" },
      { type: "press", digits: `${pin}#` },
      { type: "silence", ms: 4_000 },
      { type: "press", digits: "7" },
      { type: "silence", ms: 5_000 },
      { type: "hangup" },
    ]);
    expect(asked).toEqual([
      ["reply", `The callee pressed ${pin} on the telephone.`],
      ["reply", "The callee pressed 7 on the telephone."],
    ]);
  });
});

test("a key stops the silence that is reported as idle, and its count begins again", async () => {
  const [{ service } = {}] = carriers;
  const counts: number[] = [];
  await talk(service, { idleTimeout: 900, onIdle: ({ count }) => void counts.push(count) });
  // After the keys there are 1,100 ms, and 3,600 after another one.
  expect(counts).toEqual([1, 1, 2, 3, 4]);
});

test.each(carriers)(
  "keys come during a protected opening, too, on the line of $name",
  async ({ service }) => {
    const opening = { audio: new Int16Array(24_000).fill(4_000), sampleRate: 8_000 };
    const keys: unknown[] = [];
    const { told } = await talk(service, { opening, onKeys: ({ key }) => keys.push(key) }, [
      { type: "silence", ms: 500 },
      { type: "press", digits: "4#" },
      { type: "silence", ms: 3_000 },
      { type: "hangup" },
    ]);
    expect(keys).toEqual(["4", "#"]);
    expect(told).toContainEqual(
      expect.objectContaining({ opening: { played: 3_000, duration: 3_000 } }),
    );
  },
);

test("in real time, too, the keys come on each line at once", async () => {
  const acts: readonly CalleeAct[] = [
    { type: "silence", ms: 300 },
    { type: "press", digits: "42#" },
    { type: "silence", ms: 300 },
    { type: "hangup" },
  ];
  const pressed = await Promise.all(
    carriers.map(async ({ service }) => {
      const keys: unknown[] = [];
      await talk(service, { onKeys: (one) => keys.push(one) }, acts, "real");
      return keys;
    }),
  );
  const keys = [...collected("42"), { key: "#", keys: "42", done: true }];
  expect(pressed).toEqual(carriers.map(() => keys));
});

test("outdial's own interface has no keys", async () => {
  const onKeys = vi.fn();
  const { told } = await talk(undefined, { onKeys });
  expect(onKeys).not.toHaveBeenCalled();
  expect(told.map((each) => Object(each).reason).filter(Boolean)).toEqual(["hung_up"]);
});

test("no more than the last 64 keys are kept, and none once they were complete", () => {
  vi.useFakeTimers();
  const calls: unknown[] = [];
  const keys = createKeys(3_000, createTimers(processClock), (pressed) => calls.push(pressed));
  for (let at = 0; at < 70; at++) keys.press("1");
  expect(calls.at(-1)).toEqual({ key: "1", keys: "1".repeat(64), done: false });
  vi.advanceTimersByTime(3_000);
  keys.press("#");
  expect(calls.slice(-2)).toEqual([
    { keys: "1".repeat(64), done: true },
    { key: "#", keys: "", done: true },
  ]);
  vi.useRealTimers();
});
