import { expect, test } from "vitest";
import { createMachineDetector, type Found } from "../../../src/exchange/machine.ts";
import { tone, voice } from "../../exchange/telephone/ear.ts";

const silence = (ms: number) => new Int16Array(8 * ms);

/** Who answers with these sounds, and after how many milliseconds that is known. */
const detect = (...sounds: readonly Int16Array[]): readonly [Found | undefined, number] => {
  const detector = createMachineDetector();
  const all = Int16Array.from(sounds.flatMap((sound) => [...sound]));
  for (let at = 0; at + 160 <= all.length; at += 160) {
    const found = detector(all.subarray(at, at + 160));
    if (found) return [found, at / 8 + 20];
  }
  return [undefined, all.length / 8];
};

const quiet = silence(10_000);

test.each<readonly [string, readonly Int16Array[], Found, number]>([
  ["a word, and quiet", [silence(500), voice(1, 600), quiet], "person", 1_900],
  ["1.4 s of words, and quiet", [silence(300), voice(2, 1_400), quiet], "person", 2_500],
  ["a click, and quiet", [silence(300), voice(1, 20), quiet], "unknown", 5_000],
  ["longer first words", [silence(300), voice(3, 2_500), quiet], "unknown", 5_300],
  ["nothing", [quiet], "unknown", 5_000],
  [
    "a greeting and a beep",
    [voice(4, 4_000), silence(500), tone(1_000, 500), quiet],
    "machine",
    5_100,
  ],
  ["a beep alone", [silence(200), tone(440, 300), quiet], "machine", 600],
  ["a greeting that never ends", [voice(5, 40_000)], "unknown", 30_000],
])("%s", (_, sounds, found, known) => {
  const [who, at] = detect(...sounds);
  expect(who).toBe(found);
  expect(Math.abs(at - known)).toBeLessThan(150);
});
