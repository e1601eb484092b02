import { describe, expect, test } from "vitest";
import type { Agent } from "../../../src/agents/agent.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import {
  type SimulateSocketOptions,
  scriptedAgent,
  simulateCall,
} from "../../../src/testing/index.ts";
import { Lateness, marked, trustOf } from "../../../src/testing/trust.ts";
import { turnsOf } from "../../../src/testing/turns.ts";
import { conversation, talkWith, voice, wellBehaved } from "./agents.ts";

/** An application that has the agent speak once a promise has settled, which it makes 2 s after the answer. */
const waiting = (
  wait: (given: Parameters<SimulateSocketOptions["app"]>[1]) => Promise<unknown>,
) => {
  const scripted = scriptedAgent([{ ms: 500 }, { ms: 500 }], { patience: 100_000 });
  const app: SimulateSocketOptions["app"] = (socket, given) => {
    const session = connectAgent(socket, scripted, given);
    let heard = 0;
    socket.addEventListener("message", () => {
      if (++heard === 100) wait(given).then(() => session.reply("Go on."));
    });
  };
  return app;
};

describe("twice", () => {
  test("a timer of the process in the application is told: two runs differ", async () => {
    const app = waiting(() => new Promise((resolve) => setTimeout(resolve, 30)));
    const caller = [{ type: "until", ms: 20_000 }, { type: "hangup" }] as const;
    const once = await simulateCall({ app, caller });
    expect(once.trust).toMatchObject({ runs: 1, differs: [] });
    const { trust } = await simulateCall({ app, caller, twice: true });
    expect(trust).toMatchObject({ runs: 2, ok: false });
    expect(trust.differs).toContain("deadAir");
  });

  test("a timer that comes in no quick call is told: the second run gives it the time", async () => {
    const app = waiting(() => new Promise((resolve) => setTimeout(resolve, 700)));
    const caller = [{ type: "until", ms: 20_000 }, { type: "hangup" }] as const;
    const { turns, trust } = await simulateCall({ app, caller, twice: true });
    expect(turns).toEqual([]);
    expect(trust).toMatchObject({ runs: 2, ok: false });
    expect(trust.differs).toContain("deadAir");
  });

  test("the same timer by options.simulation is the call's own: two runs are the same", async () => {
    const app = waiting(
      ({ simulation }) => new Promise<void>((resolve) => void simulation.after(30, resolve)),
    );
    const caller = [{ type: "until", ms: 20_000 }, { type: "hangup" }] as const;
    const { trust } = await simulateCall({ app, caller, twice: true });
    expect(trust).toMatchObject({ runs: 2, differs: [], ok: true });
  });

  test("an agent of this process has the same figures in both runs, which are those of one", async () => {
    const once = await talkWith(wellBehaved(), { line: { latency: 80, jitter: 40 } });
    const twice = await talkWith(wellBehaved(), { line: { latency: 80, jitter: 40 }, twice: true });
    expect(twice.trust).toMatchObject({ runs: 2, differs: [], ok: true });
    expect(twice.turns).toEqual(once.turns);
    expect((await twice.toReport()).trust).toEqual(twice.trust);
  });

  test("is refused in real time, which differs in each run", async () => {
    const given = { app: () => {}, caller: conversation, time: "real", twice: true };
    await expect(Reflect.apply(simulateCall, undefined, [given])).rejects.toThrow(
      'twice needs time: "virtual"',
    );
  });
});

test("in real time a stall of 250 ms marks what was measured meanwhile, and the call can't be trusted", async () => {
  const agent: Agent = scriptedAgent([{ ms: 300 }, { ms: 300 }], { patience: 300 });
  const { turns, trust } = await simulateCall({
    time: "real",
    app: (socket) => {
      connectAgent(socket, agent);
      let frames = 0;
      socket.addEventListener("message", () => {
        // While the caller speaks: the process does nothing else for 250 ms.
        if (++frames !== 65) return;
        const until = performance.now() + 250;
        while (performance.now() < until);
      });
    },
    caller: [
      { type: "until-quiet" },
      { type: "say", voice: voice(600) },
      { type: "until-quiet" },
      { type: "hangup" },
    ],
  });
  expect(turns[0]?.late).toBeGreaterThan(200);
  expect(trust.latest).toBeGreaterThan(200);
  expect(trust.late).toEqual(expect.arrayContaining(["turns", "response"]));
  expect(trust.ok).toBe(false);
});

describe("the marks", () => {
  const none = { least: 0, most: 0 };
  const utterances = [
    { from: 1_000, to: 2_000, expect: "respond" },
    { from: 10_000, to: 10_100, expect: "ignore" },
  ] as const;
  const turns = turnsOf(utterances, [{ from: 2_500, to: 4_000 }], 20_000);
  const summary = { n: 1, min: 500, p50: 500, max: 500 };
  const trustWith = (lateness: Lateness) =>
    trustOf(
      {
        turns: marked(turns, lateness, none),
        firstAudio: { n: 1, min: 2_500, p50: 2_500, max: 2_500 },
        response: summary,
        stop: { n: 0 },
        overlap: 0,
        deadAir: { count: 0, longest: 0, total: 0 },
        tools: [],
        transcript: [],
        faults: [],
        end: { ms: 20_000, reason: "normal", session: "hung_up" },
      },
      lateness,
      { clock: "real", detector: "x" },
    );
  const latenessOf = (sent: number, late: number) => {
    const lateness = new Lateness();
    for (let at = 0; at < 1_000; at++) lateness.add(at * 20, 0);
    lateness.add(sent, late);
    return lateness;
  };

  test.each([
    [2_100, 250, [250, undefined]],
    [2_600, 250, [250, undefined]],
    [3_000, 250, [undefined, undefined]],
    [900, 250, [undefined, undefined]],
    [11_000, 100, [undefined, 100]],
    [2_100, 25, [undefined, undefined]],
  ])(
    "a frame sent at %i ms, late by %i: the turns that were measured then",
    (sent, late, marks) => {
      expect(marked(turns, latenessOf(sent, late), none).map((turn) => turn.late)).toEqual(marks);
    },
  );

  test("a figure that depends on a late frame is named; what one frame can't move is not", () => {
    expect(trustWith(latenessOf(2_100, 250))).toMatchObject({
      late: ["firstAudio", "turns", "response", "overlap", "deadAir"],
      ok: false,
    });
    expect(trustWith(latenessOf(11_000, 100)).late).toEqual(["turns", "overlap", "deadAir"]);
    expect(trustWith(latenessOf(2_100, 25))).toMatchObject({ late: [], ok: true, latest: 25 });
  });
});
