import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resample, SpanList, tone } from "../../../../src/emulator/recording/track.ts";
import { base64, bytesOf } from "../../../../src/lib/encoding.ts";
import { samplesOf } from "../../../../src/server/outdial/actions.ts";

describe("sound", () => {
  it("goes through base64 unchanged", () => {
    fc.assert(
      fc.property(fc.int16Array(), (each) => {
        expect(samplesOf(base64(bytesOf(each)))).toEqual(new Int16Array(each));
      }),
    );
  });

  it("that is not base64, or half a sample, is refused", () => {
    expect(() => samplesOf("*")).toThrow("must be base64");
    expect(() => samplesOf("_-8=")).toThrow("must be base64");
    expect(() => samplesOf(btoa("abc"))).toThrow("must be whole 16-bit samples");
  });

  it("above the band of another rate is left out", () => {
    const made = resample(tone(6_000, 24_000, 0, 24_000), 24_000, 8_000).slice(50, -50);
    expect(Math.max(...made.map(Math.abs))).toBeLessThan(6);
  });

  it.each([8_000, 16_000, 22_050, 24_000, 44_100, 48_000])(
    "at %i Hz lasts as long at 8 and 16 kHz, and is the same tone",
    (rate) => {
      for (const to of [8_000, 16_000]) {
        const made = resample(tone(300, rate, 0, rate), rate, to);
        expect(made).toHaveLength(to);
        const wanted = tone(300, to, 0, to);
        const middle = made.slice(100, -100); // It begins and ends where there was silence.
        const off = Math.max(...middle.map((each, at) => Math.abs(each - (wanted[at + 100] ?? 0))));
        expect(off).toBeLessThan(700); // Of 6 000: half a sample of the slower one.
      }
    },
  );

  it("of a tone is the same in one piece or in many", () => {
    const whole = tone(440, 8_000, 0, 100);
    expect(new Int16Array([...tone(440, 8_000, 0, 37), ...tone(440, 8_000, 37, 63)])).toEqual(
      whole,
    );
  });
});

const times = fc.nat(50);

it("a list of spans gives what overlaps a range, in order, whenever it was added", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(times, times)), times, times, (spans, from, to) => {
      const list = new SpanList<readonly [number, number]>();
      for (const [start, length] of spans) list.add(start, start + length, [start, length]);
      const expected = spans
        .filter(([start, length]) => start < to && start + length > from)
        .toSorted(([one], [other]) => one - other);
      expect(list.between(from, to)).toEqual(expected);
      expect(list.size).toBe(spans.length);
    }),
  );
});
