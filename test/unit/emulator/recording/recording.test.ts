import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { audioOf, Recording } from "../../../../src/emulator/recording/recording.ts";

const of = (value: number, count: number) => new Int16Array(count).fill(value);

/** What is heard in a stretch at 8 kHz. */
const at8 = (all = true) => ({ sampleRate: 8_000, now: 60_000, all });

describe("a recording", () => {
  it("is the same in one piece or in many, and never out of range", () => {
    const recording = new Recording();
    recording.callee.openTone(440, 1, 30);
    recording.media.openTone(350, 10, 20);
    recording.open(8_000).enqueue(of(32_767, 100), "a", 40);
    recording.callee.add({ from: 60, samples: of(32_767, 100), sampleRate: 8_000 });
    recording.open(16_000).enqueue(of(-32_768, 90), "a", 301);
    const whole = recording.mono(0, 300, at8());
    fc.assert(
      fc.property(fc.nat(299), fc.nat(300), (first, count) => {
        const part = recording.mono(first, Math.min(count, 300 - first), at8());
        expect(part).toEqual(whole.slice(first, first + count));
      }),
    );
    expect(Math.max(...whole)).toBe(32_767);
    expect(Math.min(...whole)).toBe(-32_768);
  });

  it("has the callee left and what is said to them right", () => {
    const recording = new Recording();
    recording.callee.add({ from: 1, samples: of(7, 2), sampleRate: 8_000 });
    recording.open(8_000).enqueue(of(9, 2), undefined, 2);
    expect([...recording.stereo(0, 4, at8())]).toEqual([0, 0, 7, 0, 7, 9, 0, 9]);
  });

  it("is silent while it is asked to pause, and what was heard is known all the same", () => {
    const recording = new Recording();
    recording.open(8_000).enqueue(of(9, 80), undefined, 0);
    recording.pause(2);
    const going = recording.mono(0, 80, at8(false));
    expect(going).toEqual(new Int16Array([...of(9, 16), ...of(0, 64)]));
    recording.resume(5);
    const whole = recording.mono(0, 80, at8(false));
    expect(whole).toEqual(new Int16Array([...of(9, 16), ...of(0, 24), ...of(9, 40)]));
    expect(recording.mono(0, 80, at8())).toEqual(of(9, 80));
  });
});

describe("the audio of a call", () => {
  it("costs a look at each piece, however many there are, and nothing while nothing is added", () => {
    let looks = 0;
    const piece = (): Int16Array =>
      Object.defineProperty(of(9, 1), "length", {
        get: () => {
          looks++;
          return 1;
        },
      });
    const recording = new Recording();
    const playout = recording.open(8_000);
    const pieces = 5_000;
    for (let at = 0; at < pieces; at++) {
      playout.enqueue(piece(), at, at * 160);
      recording.callee.add({ from: at * 160, samples: piece(), sampleRate: 8_000 });
    }
    const { peaks, played } = audioOf(recording, pieces * 20);
    expect(played).toHaveLength(pieces);
    looks = 0;
    const callee = peaks("callee", 1_000);
    const application = peaks("application", 1_000);
    expect(looks).toBeLessThan(pieces * 2 * 10);
    const again = audioOf(recording, pieces * 20);
    looks = 0;
    expect(again.peaks("callee", 1_000)).toEqual(callee);
    expect(again.peaks("application", 1_000)).toEqual(application);
    expect(looks).toBe(0);
    recording.callee.add({ from: 400, samples: of(32_767, 8), sampleRate: 8_000 });
    const [first = 0, second] = audioOf(recording, pieces * 20).peaks("callee", 1_000);
    expect(first).toBeGreaterThan(0.9);
    expect(second).toBe(callee[1]);
  });

  it("lists what was played, when, and how much of it, at the stream's own rate", () => {
    const recording = new Recording();
    const playout = recording.open(16_000);
    playout.enqueue(of(9, 320), "one", 160);
    playout.enqueue(of(8, 320), 2, 160);
    playout.enqueue(of(7, 320), undefined, 160);
    playout.interrupt(2, 481);
    const { played, ms, sample_rate } = audioOf(recording, 35);
    expect({ ms, sample_rate }).toEqual({ ms: 35, sample_rate: 16_000 });
    const of320 = { total: 320, sample_rate: 16_000 };
    expect(played).toEqual([
      { chunk_id: "one", from_ms: 10, to_ms: 30, samples: 320, end: "played", ...of320 },
      { chunk_id: 2, from_ms: 30, to_ms: 30.0625, samples: 1, end: "cut", ...of320 },
      { from_ms: 30.0625, to_ms: 35, samples: 79, end: "playing", ...of320 },
    ]);
  });

  it("gives each side, its peaks, and both as a WAV", () => {
    const recording = new Recording();
    recording.callee.add({ from: 160, samples: of(16_384, 160), sampleRate: 8_000 });
    recording.open(8_000).enqueue(of(-32_768, 240), undefined, 0);
    const audio = audioOf(recording, 50);
    expect(audio.samples("application")).toEqual(
      new Int16Array([...of(-32_768, 240), ...of(0, 160)]),
    );
    expect(audio.peaks("callee")).toEqual([0, 0.5, 0]);
    expect(audio.peaks("application", 10)).toEqual([1, 1, 1, 0, 0]);
    expect(audio.wav()).toHaveLength(44 + 400 * 4);
    expect(new DataView(audio.wav().buffer).getUint16(22, true)).toBe(2);
  });

  it("is empty before the answer", () => {
    const { played, cuts, samples, peaks } = audioOf(new Recording(), 0);
    expect([played, cuts, samples("callee"), peaks("callee")]).toEqual([
      [],
      [],
      new Int16Array(),
      [],
    ]);
  });
});
