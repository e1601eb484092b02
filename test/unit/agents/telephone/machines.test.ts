import { describe, expect, test } from "vitest";
import { leaveVoicemail } from "../../../../src/agents/telephone/leave-voicemail.ts";
import { talkInTime } from "../../../conformance/models/talk-in-time.ts";
import { voice as voiceOf } from "../../../conformance/models/voice.ts";
import { randomOf } from "../../../random.ts";
import { type BeepKind, beepOf, kinds } from "./beeps.ts";

const voice = (ms: number, seed = 1, level = 1) => ({
  audio: voiceOf(ms, randomOf(seed)).map((sample) => sample * level),
  sampleRate: 8_000,
});
const tools = { leave_voicemail: leaveVoicemail({ message: "Call back." }) };

/** A call whose agent takes what answers for a voicemail at its first pause. */
const answered = async (
  acts: readonly ({ audio: Int16Array; sampleRate: number } | number)[],
  noise?: number,
) => {
  const talk = await talkInTime({
    tools,
    answers: [0, 700],
    loudness: noise === undefined ? 300 : 600,
    calls: { 0: { name: "leave_voicemail", args: {} } },
    line: { noise },
    caller: [
      ...acts.map((act) =>
        typeof act === "number"
          ? ({ type: "silence", ms: act } as const)
          : ({ type: "say", voice: act } as const),
      ),
      { type: "until", ms: 25_000 },
      { type: "hangup" },
    ],
  });
  const outputs = talk.model.received.flatMap(({ item }) => Object(item).output ?? []);
  return talk.end.outcome ?? String(outputs);
};

const levels = [-12, -20, -28];

describe.each(Object.keys(kinds) as BeepKind[])("a beep that is %s", (kind) => {
  test.each([undefined, -50, -40])("gets the message, with noise of %s dBFS", async (noise) => {
    for (const [seed, level] of levels.entries()) {
      if (kind === "a bell" && noise === -40 && level < -20) continue; // Most of it is below the noise.
      const beep = { audio: beepOf(kind, 200 + 150 * seed, level, seed), sampleRate: 8_000 };
      const pause = 900 + 300 * seed;
      expect([level, await answered([voice(1_500, seed), pause, beep], noise)]).toEqual([
        level,
        "message_left",
      ]);
    }
  });
});

describe.each([undefined, -45])(
  "a person who repeats their word, with noise of %s dBFS",
  (noise) => {
    test.each([800, 1_000, 1_200, 1_400, 1_600])("after %i ms is one", async (pause) => {
      for (const seed of [1, 2, 3]) {
        const ms = 250 + 150 * seed;
        const hello = [voice(ms, seed), pause, voice(ms, seed + 9), 2_500];
        expect([seed, await answered(hello, noise)]).toEqual([
          seed,
          expect.stringContaining("A person speaks"),
        ]);
      }
    });
  },
);

test("a person who says their name first, and then a word, is one", async () => {
  const words = [voice(1_700), 1_200, voice(420, 2), 2_500];
  expect(await answered(words)).toContain("A person speaks");
});
