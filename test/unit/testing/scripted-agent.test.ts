import { describe, expect, test } from "vitest";
import type { SessionEnd } from "../../../src/agents/agent-session.ts";
import type { SessionOptions } from "../../../src/agents/options.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { leaveVoicemail } from "../../../src/agents/telephone/leave-voicemail.ts";
import { type ScriptedAnswer, scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { simulateCall } from "../../../src/testing/simulate-call.ts";
import type { SimulateOptions } from "../../../src/testing/simulate-options.ts";
import { voice } from "./agents.ts";

/** A call with a scripted agent: how its session has ended, what failed, and how many ms of the agent were heard. */
const talk = async (
  answers: readonly ScriptedAnswer[],
  caller: SimulateOptions["caller"],
  options: SessionOptions,
  tools = {},
) => {
  const ends: SessionEnd[] = [];
  const errors: unknown[] = [];
  const { audio } = await simulateCall({
    caller,
    app: (socket, given) =>
      connectAgent(
        socket,
        { ...scriptedAgent(answers), tools },
        {
          ...{ ...given, ...options },
          onEnd: (end) => ends.push(end),
          onError: (error) => errors.push(error),
        },
      ),
  });
  const audible = audio.samples("application").filter((sample) => Math.abs(sample) > 500).length;
  return { outcome: ends[0]?.outcome, errors, ms: (audible * 1_000) / audio.sample_rate };
};

test("a scripted agent answers what reply asks for: a quiet caller is asked twice, and then the call ends", async () => {
  const { outcome, errors, ms } = await talk(
    [{ ms: 900 }, { ms: 700 }, { ms: 600 }, { ms: 500 }],
    [{ type: "until", ms: 60_000 }],
    {
      idleTimeout: 2_000,
      onIdle: async ({ count }, session) => {
        await session.addContext("They are quiet.");
        if (count < 3) return session.reply("Ask whether they are still there.");
        await session.reply("Say goodbye.");
        await session.leave("gave_up");
      },
    },
  );
  expect([outcome, errors]).toEqual(["gave_up", []]);
  expect(Math.abs(ms - 2_700)).toBeLessThan(300); // A tone crosses zero.
});

test("a scripted agent leaves the message of leaveVoicemail as its next answer", async () => {
  const leave_voicemail = leaveVoicemail({ message: "Please call us back." });
  const { outcome, errors } = await talk(
    [{ tool: "leave_voicemail", args: {} }, { ms: 1_500 }],
    [
      { type: "say", voice: voice(2_500) },
      { type: "silence", ms: 700 },
      { type: "tone", hertz: 1_000, ms: 400 },
      { type: "until", ms: 20_000 },
    ],
    {},
    { leave_voicemail },
  );
  expect([outcome, errors]).toEqual(["message_left", []]);
});

test.each([undefined, -50, -45, -42])(
  "a scripted agent responds as soon on a line with noise of %s dBFS",
  async (noise) => {
    const { turns } = await simulateCall({
      app: (socket) => connectAgent(socket, scriptedAgent([{ ms: 900 }, { ms: 900 }, { ms: 900 }])),
      line: { noise },
      caller: [
        { type: "until-quiet" },
        { type: "say", voice: voice(640) },
        { type: "until-quiet" },
        { type: "say", voice: voice(820) },
        { type: "until-quiet" },
        { type: "hangup" },
      ],
    });
    expect(turns.map(({ response = 0 }) => Math.round(response / 20) * 20)).toEqual([500, 500]);
  },
);

describe("scriptedAgent refuses what breaks a rule, by its name", () => {
  const answers = [{ ms: 500 }];
  const refused: readonly (readonly [rule: string, given: readonly unknown[]])[] = [
    ["patience must be a number of milliseconds above 0", [answers, { patience: "200" }]],
    ["patience must be a number of milliseconds above 0", [answers, { patience: Number.NaN }]],
    ["think must be a whole number from 0", [answers, { think: -1 }]],
    ["patiance is unknown: did you mean patience?", [answers, { patiance: 200 }]],
    ["options must be an object", [answers, 200]],
    ["tools must be an object", [answers, { tools: [] }]],
    ["answers must be a list", [{ ms: 500 }]],
    ["answers.1 must have", [[{ ms: 500 }, {}]]],
    ["answers.0 must have", [[null]]],
    ["answers.0 must have", [[{ ms: "500" }]]],
    ["answers.0 must have", [[{ audio: new Uint8Array(320) }]]],
    ["answers.0 must have", [[{ tool: 7, args: {} }]]],
  ];
  test.each(refused)("%s", (rule, given) => {
    expect(() => Reflect.apply(scriptedAgent, undefined, given)).toThrow(rule);
  });
});
