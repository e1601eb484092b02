import { describe, expect, test } from "vitest";
import type { Agent } from "../../../src/agents/agent.ts";
import { warmAgent } from "../../../src/agents/preconnect.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import type { CalleeAct } from "../../../src/emulator/callee-script.ts";
import { streamSession } from "../../../src/flows/media/session.ts";
import type { MediaSocket } from "../../../src/flows/media/socket.ts";
import { base64, bytesOf } from "../../../src/lib/encoding.ts";
import type { Service } from "../../../src/service.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { simulateCall } from "../../../src/testing/simulate-call.ts";
import { carriers } from "../carriers/carriers.ts";
import { conversation, talkWith, voice, wellBehaved, withEvents } from "./agents.ts";

const lines: readonly (readonly [name: string, service: Service | undefined])[] = [
  ["outdial's own interface", undefined],
  ...carriers.map(({ name, service }) => [name, service] as const),
];

/** The caller asks so often, in words of another length each time; then the agent ends the call. */
const questions = (count: number) => [
  ...Array.from({ length: count }, (_, at) => [
    { type: "until-quiet" } as const,
    { type: "say", voice: voice(400 + 37 * at) } as const,
  ]).flat(),
  { type: "until-quiet" } as const,
  { type: "hangup" } as const,
];

describe.each(lines)("the line of %s", (_, service) => {
  test("has the figures of the truth, with its own protocol", async () => {
    const { turns, stop, end, trust } = await talkWith(wellBehaved(), { service });
    for (const { response } of turns.filter(({ expect }) => expect !== "ignore"))
      expect(Math.abs((response ?? Number.NaN) - 500)).toBeLessThan(21);
    expect(Math.abs((stop.max ?? Number.NaN) - 300)).toBeLessThan(41);
    expect(end).toMatchObject({ reason: "normal", session: "hung_up" });
    expect(trust).toMatchObject({ clock: "virtual", lateness: 0, ok: true });
  });

  test("a latency of 80 ms each way is 160 ms in each response", async () => {
    const talk = async (latency: number) =>
      (await talkWith(wellBehaved(), { service, line: { latency } })).turns;
    const [near, far] = [await talk(0), await talk(80)];
    for (const [at, { response = 0 }] of far.entries()) {
      if (near[at]?.response !== undefined)
        expect(response - (near[at]?.response ?? 0)).toBeCloseTo(160, -1.5);
    }
  });
});

test.each([
  [500, 0, 0],
  [400, 100, 0],
  [300, 613, 40],
  [800, 0, 40],
  [250, 900, 120],
  [700, 50, 120],
  [500, 333, 250],
  [1_000, 10, 250],
])(
  "of 32 responses with patience %i, think %i and latency %i none is off by more than a frame",
  async (patience, think, latency) => {
    const answers = Array.from({ length: 34 }, () => ({ ms: 700 }));
    const agent = scriptedAgent(answers, { patience, think });
    const { turns, response } = await simulateCall({
      app: (socket) => connectAgent(socket, agent),
      caller: questions(32),
      line: { latency },
    });
    expect(response.n).toBe(32);
    const truth = patience + think + 2 * latency;
    for (const turn of turns) {
      const error = (turn.response ?? Number.NaN) - truth;
      // Rounded up to a frame, by the sample in which the tone is audible.
      expect(error).toBeGreaterThanOrEqual(-0.5);
      expect(error).toBeLessThanOrEqual(20.5);
    }
    expect(response).toHaveProperty("p95");
    expect(response).not.toHaveProperty("p99");
  },
);

test("20 runs have the same figures, with every fault of the line, one after the other and side by side", async () => {
  const line = {
    latency: 60,
    jitter: 90,
    loss: 0.05,
    narrowband: true,
    noise: -55,
    echo: -40,
    seed: 7,
  };
  const figures = async () => {
    const call = await talkWith(wellBehaved(), { line });
    return JSON.stringify(await call.toReport());
  };
  const all = new Set(await Promise.all(Array.from({ length: 10 }, figures)));
  for (let run = 0; run < 10; run++) all.add(await figures());
  expect(all.size).toBe(1);
});

test("the session's end is known also where the close is on its way for long", async () => {
  const { end } = await talkWith(wellBehaved(), { line: { latency: 250, jitter: 50 } });
  expect(end.session).toBe("hung_up");
});

test("another seed has other figures", async () => {
  const figures = async (seed: number) =>
    (await talkWith(wellBehaved(), { line: { jitter: 90, seed } })).response.max;
  expect(await figures(1)).not.toBe(await figures(2));
});

test("time stands still while a tool runs, and the next answer has the same response", async () => {
  const talk = (wait: number) => {
    const run = () => new Promise((resolve) => setTimeout(resolve, wait, "Done."));
    const agent: Agent = {
      ...scriptedAgent([{ ms: 500 }, { tool: "wait", args: {} }, { ms: 500 }]),
      tools: { wait: { description: "Waits.", run } },
    };
    return simulateCall({
      app: (socket) => connectAgent(socket, agent),
      caller: questions(1),
    });
  };
  const [quick, slow] = [await talk(0), await talk(60)];
  expect(slow.response).toEqual(quick.response);
  expect(slow.tools).toMatchObject([{ name: "wait", took: 0 }]);
  expect(slow.tools[0]?.ms).toBe(quick.tools[0]?.ms);
});

test("a tool that waits by the call's own clock has its time, while others that run stop it", async () => {
  const talk = (wait: number, real: number) =>
    simulateCall({
      app: (socket, options) => {
        const { simulation } = options;
        const run = () =>
          Promise.all([
            new Promise<void>((resolve) => void simulation.after(wait, resolve)),
            simulation.hold(new Promise((resolve) => setTimeout(resolve, real))),
          ]).then(() => "Done.");
        const agent: Agent = {
          ...scriptedAgent([{ ms: 500 }, { tool: "wait", args: {} }, { ms: 500 }]),
          tools: { wait: { description: "Waits.", run } },
        };
        return connectAgent(socket, agent, options);
      },
      caller: questions(1),
    });
  const [none, one, slow] = [await talk(0, 0), await talk(1_000, 0), await talk(1_000, 40)];
  expect((one.response.max ?? 0) - (none.response.max ?? 0)).toBeCloseTo(1_000, -1.5);
  expect(one.tools).toMatchObject([{ name: "wait", took: 1_000, isError: false }]);
  expect(slow.response).toEqual(one.response);
});

test("a tool that takes longer than its timeout in the call fails, as it does in production", async () => {
  const talk = (timeout: number) =>
    simulateCall({
      app: (socket, options) => {
        const { simulation } = options;
        const run = () => new Promise<void>((resolve) => void simulation.after(3_000, resolve));
        const agent: Agent = {
          ...scriptedAgent([{ ms: 500 }, { tool: "wait", args: {} }, { ms: 500 }]),
          tools: { wait: { description: "Waits.", timeout, run } },
        };
        return connectAgent(socket, agent, { ...options, onError: () => {} });
      },
      caller: questions(1),
    });
  expect((await talk(2_000)).tools).toMatchObject([{ name: "wait", took: 2_000, isError: true }]);
  expect((await talk(4_000)).tools).toMatchObject([{ name: "wait", took: 3_000, isError: false }]);
});

test("what is done before a call is left may wait by the call's own clock", async () => {
  const { end, transcript } = await simulateCall({
    app: (socket, options) => {
      const { simulation } = options;
      const before = () => new Promise<void>((resolve) => void simulation.after(700, resolve));
      const session = connectAgent(socket, scriptedAgent([{ ms: 500 }]), options);
      session.leave("noted", { before });
    },
    caller: [{ type: "silence", ms: 9_000 }, { type: "hangup" }],
  });
  expect([end.session, end.outcome, transcript]).toEqual(["left", "noted", []]);
  expect(end.ms).toBeGreaterThan(500 + 600 + 700);
});

test("audio that is more than is kept of a call is refused by name: its figures would be of silence", async () => {
  const second = new Int16Array(8_000);
  /** Sends so many minutes of audio at once. */
  const sends = (minutes: number) => (socket: MediaSocket) => {
    const text = JSON.stringify({ type: "audio", audio_b64: base64(bytesOf(second)) });
    socket.addEventListener("message", function start() {
      socket.removeEventListener("message", start);
      for (let at = 0; at < minutes * 60; at++) socket.send(text);
    });
  };
  const caller = [{ type: "until", ms: 500 }, { type: "hangup" }] as const;
  const simulate = (minutes: number, maxDuration?: number) =>
    simulateCall({ app: sends(minutes), caller, maxDuration });
  await expect(simulate(21)).rejects.toMatchObject({
    param: "app",
    message: expect.stringMatching(/sends more audio than is kept/),
  });
  // As much as the longest call can play, and ten minutes that are queued.
  expect((await simulate(20)).trust.ok).toBe(true);
  expect((await simulate(30, 20 * 60_000)).trust.ok).toBe(true);
});

test("time stands still while an agent's address is awaited", async () => {
  const talk = async (wait: number) => {
    const scripted = scriptedAgent([{ ms: 500 }]);
    const address = async () => {
      await new Promise((resolve) => setTimeout(resolve, wait));
      return scripted.address();
    };
    const { firstAudio } = await simulateCall({
      app: (socket) => connectAgent(socket, { ...scripted, address }),
      caller: [{ type: "until-quiet" }, { type: "hangup" }],
    });
    return firstAudio;
  };
  expect(await talk(50)).toEqual(await talk(0));
});

test("a warm agent has the time of the call by its options", async () => {
  const call = await simulateCall({
    app: (socket, options) =>
      connectAgent(
        socket,
        warmAgent(scriptedAgent([{ ms: 500 }]), { sampleRate: 8000, ...options }),
      ),
    caller: [{ type: "until-quiet" }, { type: "hangup" }],
  });
  expect(call.firstAudio.max).toBeLessThan(21);
});

test("an application without an agent is measured, too", async () => {
  const call = await simulateCall({
    app: (socket) => {
      const session = streamSession(socket, {
        onStart: () => void session.audio(new Int16Array(8_000).fill(5_000)),
      });
    },
    caller: [{ type: "until-quiet" }, { type: "hangup" }],
  });
  expect(call).toMatchObject({ turns: [], firstAudio: { n: 1 }, end: { ms: 1_600 } });
});

test.each([0, 80, 1_000])(
  "with a latency of %i ms the session gets the end of the call",
  async (latency) => {
    const ends: string[] = [];
    const { end } = await talkWith(
      wellBehaved(),
      { line: { latency } },
      { onEnd: ({ reason }) => void ends.push(reason) },
    );
    expect(end).toMatchObject({ reason: "normal", session: "hung_up" });
    expect(ends).toEqual(["hung_up"]);
  },
);

test("a pause within a voice is no speech: neither overlap, nor the end of dead air", async () => {
  const { audio, sampleRate } = voice(500);
  const words = new Int16Array(28_000);
  words.set(audio);
  words.set(audio, 24_000);
  const agent = scriptedAgent([{ ms: 500 }], { patience: 10_000 });
  const { turns, overlap, deadAir } = await simulateCall({
    app: (socket) => connectAgent(socket, agent),
    caller: [
      { type: "silence", ms: 1_000 },
      { type: "say", voice: { audio: words, sampleRate } },
      { type: "hangup" },
    ],
  });
  expect(turns).toHaveLength(1);
  expect(overlap).toBe(0);
  expect(deadAir).toMatchObject({ count: 1 });
  expect(deadAir.longest).toBeCloseTo(2_500, -1);
});

test("an agent that talks on until the caller hangs up has no stop, and no false stop", async () => {
  const deaf = withEvents(wellBehaved(), (events) =>
    events.filter(({ type }) => type !== "interrupted"),
  );
  for (const expectation of ["stop", "ignore"] as const) {
    const { turns, stop } = await talkWith(deaf, {
      caller: [
        { type: "until-quiet" },
        { type: "say", voice: voice(800) },
        { type: "until-speech", ms: 1_000 },
        { type: "say", voice: voice(400), expect: expectation },
        { type: "hangup" },
      ],
    });
    expect(stop).toEqual({ n: 0 });
    expect(turns[1]?.falseStop).toBeUndefined();
  }
});

test("until-speech gives up after 10 s of silence, also where the agent has spoken for less", async () => {
  const { end } = await simulateCall({
    app: (socket) => connectAgent(socket, scriptedAgent([{ ms: 500 }])),
    caller: [{ type: "until-speech", ms: 2_000 }, { type: "hangup" }],
  });
  expect(end).toMatchObject({ ms: 10_500, reason: "normal" });
});

test("what a detector finds beyond the ends of the call is cut off", async () => {
  const detector = { name: "wide", detect: () => [{ from: -50, to: 9e9 }] };
  const { firstAudio, deadAir } = await talkWith(wellBehaved(), { detector });
  expect(firstAudio.max).toBe(0);
  expect(deadAir.longest).toBe(0);
});

describe("what is refused", () => {
  test.each([
    ["not a number", [{ from: Number.NaN, to: 5 }]],
    ["backwards", [{ from: 900, to: 100 }]],
    ["after the call", [{ from: 1e9, to: 2e9 }]],
    [
      "out of order",
      [
        { from: 900, to: 1_000 },
        { from: 100, to: 200 },
      ],
    ],
    ["no list", "speech"],
  ])("a detector that returns stretches that are %s", async (_, found) => {
    const detector = { name: "mine", detect: () => found };
    const given = {
      app: (socket: MediaSocket) => connectAgent(socket, wellBehaved()),
      caller: conversation,
      detector,
    };
    await expect(Reflect.apply(simulateCall, undefined, [given])).rejects.toMatchObject({
      name: "BadParametersException",
      param: "detector",
    });
  });

  test("a voice that nobody can hear: its turn would be absent", async () => {
    const audio = new Int16Array(8_000).fill(100);
    await expect(
      talkWith(wellBehaved(), {
        caller: [{ type: "say", voice: { audio, sampleRate: 8_000 } }, { type: "hangup" }],
      }),
    ).rejects.toThrow("caller says what nobody can hear");
  });

  test("an agent that opens a network socket in virtual time, by name", async () => {
    const { open: _, ...agent } = scriptedAgent([{ ms: 500 }]);
    await expect(
      simulateCall({
        app: (socket) => connectAgent(socket, agent, { onError: () => {} }),
        caller: [{ type: "silence", ms: 500 }, { type: "hangup" }],
      }),
    ).rejects.toMatchObject({
      name: "BadParametersException",
      message: expect.stringMatching(/app opens a network socket, which needs time: "real"/),
    });
  });

  test("what a promise of the application rejects with is rethrown", async () => {
    const app = async () => Promise.reject(new RangeError("mine"));
    const caller = [{ type: "until-quiet" }, { type: "hangup" }] as const;
    await expect(simulateCall({ app, caller })).rejects.toThrow(new RangeError("mine"));
  });

  test("what the application throws is rethrown", async () => {
    const error = new Error("out of order");
    await expect(
      simulateCall({
        app: () => {
          throw error;
        },
        caller: conversation,
      }),
    ).rejects.toBe(error);
  });

  test.each([
    ["of a list", (acts: readonly CalleeAct[]) => acts],
    ["that a function yields", (acts: readonly CalleeAct[]) => () => acts],
  ])("an unknown expect %s", async (_, callerOf) => {
    const typo: CalleeAct = { type: "say", voice: voice(300) };
    const acts = [{ type: "until-quiet" } as const, Object.assign({}, typo, { expect: "stopp" })];
    await expect(
      talkWith(wellBehaved(), { caller: callerOf(acts), maxDuration: 9_000 }),
    ).rejects.toThrow('caller expect must be "respond", "stop" or "ignore"');
  });

  test.each([
    [
      "expects is unknown: did you mean expect?",
      { type: "say", voice: voice(300), expects: "stop" },
    ],
    ["voice is missing", { type: "say" }],
    ["voice.audio must be Int16Array", { type: "say", voice: { audio: [1], sampleRate: 8_000 } }],
    ["ms is missing", { type: "silence" }],
    ["ms is missing", { type: "tone", hertz: 440 }],
    ["hertz must be a number above 0", { type: "tone", hertz: "440", ms: 500 }],
    ["timeout must be 0 or more", { type: "until-quiet", timeout: Number.NaN }],
    ["digits is missing", { type: "press" }],
    ["type must be say, tone", { type: "hang" }],
    ["acts must be objects, not null", null],
  ])("%s, of an act that is never reached, too", async (rule, act) => {
    const acts = [{ type: "hangup" }, act];
    const simulate = (caller: unknown) =>
      Reflect.apply(talkWith, undefined, [wellBehaved(), { caller, maxDuration: 9_000 }]);
    await expect(simulate(acts)).rejects.toThrow(`caller ${rule}`);
    await expect(simulate(() => acts.toReversed())).rejects.toThrow(`caller ${rule}`);
  });

  test("an act that breaks its rule, by its own message", async () => {
    await expect(
      simulateCall({
        app: (socket) => connectAgent(socket, wellBehaved()),
        caller: [{ type: "press", digits: "abc" }],
      }),
    ).rejects.toThrow("caller digits must be 0 to 9, * and #");
  });

  test.each([
    ["line.loss", { line: { loss: 2 } }],
    ["time", { time: "fast" }],
    ["caller", { caller: 1 }],
    ["detector", { detector: { detect: () => [] } }],
  ])("%s by its rule", async (param, options) => {
    const given = { app: () => {}, caller: conversation, ...options };
    await expect(Reflect.apply(simulateCall, undefined, [given])).rejects.toMatchObject({ param });
  });
});

test("a call that nobody ends is over after maxDuration", async () => {
  const { end } = await simulateCall({
    app: (socket) => connectAgent(socket, scriptedAgent([{ ms: 500 }])),
    caller: [],
    maxDuration: 5_000,
  });
  expect(end).toMatchObject({ ms: 5_000, reason: "max_duration" });
});

test.each(carriers.map(({ name, service }) => [name, service] as const))(
  "a call of %s is over after maxDuration, too",
  async (_, service) => {
    const { end } = await simulateCall({
      app: (socket, options) => connectAgent(socket, scriptedAgent([{ ms: 500 }]), options),
      caller: [],
      service,
      maxDuration: 5_000,
    });
    expect(end).toMatchObject({ ms: 5_000, reason: "max_duration" });
  },
);

test("a longer timeLimit of the service is no reason to go on after maxDuration", async () => {
  const accountSid = `AC${"0".repeat(32)}`;
  const lengths = [3_000, 60_000].map(async (timeLimit) => {
    const { end } = await simulateCall({
      app: (socket, options) => connectAgent(socket, scriptedAgent([{ ms: 500 }]), options),
      caller: [],
      service: twilio({ accountSid, timeLimit }),
      maxDuration: 5_000,
    });
    return end.ms;
  });
  expect(await Promise.all(lengths)).toEqual([3_000, 5_000]);
});
