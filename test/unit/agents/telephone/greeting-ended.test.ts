import { expect, test } from "vitest";
import { type Listener, listenTo, sessionParts } from "../../../../src/agents/session-parts.ts";
import {
  type GreetingOptions,
  greetingEnded,
} from "../../../../src/agents/telephone/greeting-ended.ts";
import { createSpeechDetector } from "../../../../src/lib/loudness.ts";
import { decodeMulaw, encodeMulaw } from "../../../../src/lib/mulaw.ts";
import { SimulatedTime } from "../../../../src/testing/simulated-time.ts";
import { voice } from "../../../conformance/models/voice.ts";
import { randomOf } from "../../../random.ts";
import { greetingOf, joined, silence, sine } from "./greetings.ts";

/**
 * What it finds in samples that came through μ-law, in frames of 20 ms, and when, in ms.
 *
 * @param heldUp - from when and for how long the process does nothing, in ms; then come its timers, and then all frames
 */
const found = async (
  samples: Int16Array<ArrayBuffer>,
  options?: GreetingOptions,
  heldUp: readonly [from: number, ms: number] = [0, 0],
) => {
  const time = new SimulatedTime();
  const { now } = time.media;
  const [from, until] = [now() + heldUp[0], now() + heldUp[0] + heldUp[1]];
  const media = {
    ...time.media,
    after: (ms: number, work: () => void, later = 0) => {
      const due = now() + ms;
      const isHeldUp = due > from && due < until;
      return time.media.after(isHeldUp ? until + later - now() : ms, work);
    },
  };
  const heard = decodeMulaw(encodeMulaw(samples));
  let at: number | undefined;
  const session = {
    [sessionParts]: { clock: media, opening: undefined },
    [listenTo]: <T>(listener: Listener<T>) =>
      new Promise<T>((resolve) => {
        let isOver = false;
        const hasSpeech = createSpeechDetector();
        const words = { from: Number.NEGATIVE_INFINITY, at: Number.NEGATIVE_INFINITY, quiet: 0 };
        const ended = (value: T) => {
          at ??= now();
          isOver = true;
          resolve(value);
        };
        const hear = listener(ended, 8000, words);
        const frame = (first: number) => {
          if (isOver) return;
          const bytes = new Uint8Array(new Int16Array(160).buffer);
          bytes.set(new Uint8Array(heard.slice(first, first + 160).buffer));
          hear(bytes, hasSpeech(bytes));
          media.after(Math.max(0, first / 8 + 40 - (now() - began)), () => frame(first + 160), 0.5);
        };
        const began = now();
        media.after(20, () => frame(0), 0.5);
      }),
  };
  const end = greetingEnded(session as never, options);
  await time.runUntil(end);
  return { end: await end, at: at ?? 0 };
};

const random = randomOf(1);

/** Seeds of greetings: all 200 with `SEEDS=200`. */
const seeds = Array.from({ length: Number(process.env.SEEDS ?? 12) }, (_, seed) => seed + 1);

test("greetings of 2 to 25 s end with their beep, or after the silence", async () => {
  for (const seed of seeds) {
    const { samples, endsAt, beeps } = greetingOf(seed);
    const { end, at } = await found(samples);
    expect([seed, end]).toEqual([seed, beeps ? "beep" : "silence"]);
    const late = at - endsAt;
    expect([seed, late >= (beeps ? 80 : 2_480), late <= (beeps ? 160 : 2_540)]).toEqual([
      seed,
      true,
      true,
    ]);
  }
});

test("a person's words in the wait cancel it, each time", async () => {
  for (const seed of seeds) {
    const own = randomOf(seed);
    const words = voice(Math.round(200 + 750 * own()), own);
    const before = silence(Math.round(820 + 1_500 * own()));
    const after = seed % 2 ? [silence(1_200), voice(400, own)] : [];
    const { end, at } = await found(joined([before, words, ...after]));
    expect([seed, end]).toEqual([seed, "person"]);
    expect(Math.abs(at - (before.length + words.length) / 8 - 800)).toBeLessThan(60);
  }
});

test.each<[string, Int16Array<ArrayBuffer>, string]>([
  ["nothing at all", silence(4_000), "silence"],
  ["a knock", joined([silence(900), voice(60, random), silence(900)]), "silence"],
  [
    "a melody before the beep",
    joined([...[600, 800, 1_000].map((hertz) => sine(hertz, 200)), silence(500)]),
    "beep",
  ],
  [
    "a tone that speech follows",
    joined([voice(1_500, random), sine(800, 200), voice(1_500, random), silence(2_600)]),
    "silence",
  ],
  [
    "short words at the end of a greeting",
    joined([
      voice(2_000, random),
      silence(1_000),
      voice(500, random),
      silence(1_900),
      sine(1_000, 300),
      silence(200),
    ]),
    "beep",
  ],
  [
    "a beep that comes later than the silence",
    joined([voice(2_000, random), silence(2_700), sine(1_000, 300)]),
    "silence",
  ],
])("%s", async (_, samples, end) => {
  expect((await found(samples)).end).toBe(end);
});

test("nobody waits for longer than the timeout, and both limits can be set", async () => {
  const long = voice(6_000, random);
  expect(await found(long, { timeout: 5_000 })).toEqual({ end: "timeout", at: 5_000 });
  expect(
    (await found(joined([voice(1_500, random), silence(3_000)]), { silence: 400 })).at,
  ).toBeLessThan(2_000);
});

test("what is no session of connectAgent is refused, and so are wrong limits", async () => {
  const refused = (param: string) => ({ name: "BadParametersException", param });
  await expect(greetingEnded({} as never)).rejects.toMatchObject(refused("session"));
  await expect(greetingEnded({} as never, { silence: 0 })).rejects.toMatchObject(
    refused("silence"),
  );
});

test("a greeting that was read late is as long as its audio: it is no person's word", async () => {
  const greeting = joined([silence(900), voice(1_500, randomOf(7)), silence(10_000)]);
  expect((await found(greeting)).end).toBe("silence");
  expect((await found(greeting, {}, [0, 2_100])).end).toBe("silence");
});

test("no time is over before what came in it was heard, wherever the process was held up", async () => {
  const greeting = joined([
    silence(900),
    voice(1_500, randomOf(7)),
    sine(1_000, 300),
    silence(900),
  ]);
  const limits = { silence: 1_000 };
  for (let from = 900; from < 2_400; from += 100) {
    for (const ms of [600, 900, 1_300]) {
      expect([from, ms, await found(greeting, limits, [from, ms])]).toMatchObject([
        from,
        ms,
        { end: "beep" },
      ]);
    }
  }
});
