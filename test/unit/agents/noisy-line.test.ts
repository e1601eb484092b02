import { describe, expect, test } from "vitest";
import type { AnsweredTurn } from "../../../src/agents/options.ts";
import { levelOf } from "../../conformance/models/model.ts";
import { protocolNames } from "../../conformance/models/protocols.ts";
import { heardOf, type Talked, talkInTime } from "../../conformance/models/talk-in-time.ts";
import { voice as voiceOf } from "../../conformance/models/voice.ts";
import { randomOf } from "../../random.ts";

const words = (ms: number, seed = 1) =>
  ({ type: "say", voice: { audio: voiceOf(ms, randomOf(seed)), sampleRate: 8_000 } }) as const;

/** Three turns, and what the callee heard of each answer after the end of their words. */
const threeTurns = [
  { type: "until", ms: 3_000 },
  words(900, 1),
  { type: "until", ms: 7_000 },
  words(700, 2),
  { type: "until", ms: 11_000 },
  words(1_200, 3),
  { type: "until", ms: 15_000 },
  { type: "hangup" },
] as const;
const ends = [3_900, 7_700, 12_200];

const onLine = async (noise: number, more: Partial<Parameters<typeof talkInTime>[0]> = {}) => {
  const turns: AnsweredTurn[] = [];
  const talk = await talkInTime({
    greeting: "Hello",
    line: { noise },
    loudness: noise < -30 ? 600 : 2_200,
    caller: threeTurns,
    ...more,
    options: { onTurn: (turn) => void turns.push(turn) },
  });
  return { talk, turns, figures: talk.end.metrics.turns };
};

/** How late the answers began, in order. */
const truth = (talk: Talked) => {
  const samples = talk.call.audio.samples("application");
  const perMs = talk.call.audio.sample_rate / 1000;
  return ends.map((end) => {
    const at = samples.findIndex((sample, index) => index > end * perMs && sample > 5_000);
    return at / perMs - end;
  });
};

describe.each(protocolNames)("the turns of %s", (name) => {
  test.each([-60, -45, -39, -36])(
    "are the responses that the callee heard on a line with noise of %i dBFS, and never the greeting",
    async (noise) => {
      const { talk, turns, figures } = await onLine(noise, { name });
      const expected = truth(talk).sort((one, other) => one - other);
      expect([figures.n, turns.length]).toEqual([3, 3]);
      // The end of a word is as soft as loud noise; GPT-Live's audio is sent as late as possible.
      const most = noise > -39 || name === "gpt-live" ? 80 : 40;
      expect(Math.abs((figures.min ?? 0) - (expected[0] ?? 0))).toBeLessThanOrEqual(most);
      expect(Math.abs((figures.max ?? 0) - (expected[2] ?? 0))).toBeLessThanOrEqual(most);
      expect(figures.notQuiet).toBeUndefined();
    },
  );

  test("are absent, with the reason, where the noise is as loud as words", async () => {
    const { turns, figures } = await onLine(-24, { name });
    expect(figures).toEqual({ n: 0, notQuiet: 3 });
    expect(turns).toEqual([]);
  });
});

test("a greeting is no turn, whatever was heard before it", async () => {
  const { talk, figures } = await onLine(-60, {
    loudness: 30_000, // It notices nothing.
    caller: [words(700), { type: "until", ms: 4_000 }, { type: "hangup" }],
  });
  expect(heardOf(talk, levelOf(0)).ms).toBe(800);
  expect(figures).toEqual({ n: 0 });
});
