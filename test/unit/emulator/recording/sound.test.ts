import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { base64 } from "../../../../src/bytes/base64.ts";
import { Recording, sampleAt } from "../../../../src/emulator/recording/recording.ts";
import { bytesOf, halved, samplesOf, tone } from "../../../../src/emulator/recording/sound.ts";
import { Speech } from "../../../../src/emulator/recording/speech.ts";
import { wavHead, wavSeconds } from "../../../../src/emulator/recording/wav.ts";

const said = (speech: Speech) =>
  speech.pieces.map(({ chunk_id, from, samples }) => [chunk_id, from, samples.length]);

const samples = (count: number) => new Int16Array(count).fill(9);

describe("sound", () => {
  it("goes through base64 unchanged", () => {
    fc.assert(
      fc.property(fc.int16Array(), (each) => {
        expect(samplesOf(base64(bytesOf(each)))).toEqual(new Int16Array(each));
      }),
    );
  });

  it("that is no base64, or half a sample, is refused", () => {
    expect(() => samplesOf("*")).toThrow("must be base64");
    expect(() => samplesOf(btoa("abc"))).toThrow("must be whole 16-bit samples");
  });

  it("is halved by means of two", () => {
    expect(halved(new Int16Array([1, 3, -4, -8, 7]))).toEqual(new Int16Array([2, -6]));
  });

  it("of a tone is the same in one piece or in many", () => {
    const whole = tone(440, 8_000, 0, 100);
    expect(new Int16Array([...tone(440, 8_000, 0, 37), ...tone(440, 8_000, 37, 63)])).toEqual(
      whole,
    );
  });
});

describe("speech", () => {
  it("is said piece after piece, from now at the earliest", () => {
    const speech = new Speech();
    speech.say(samples(10), "a", 5);
    speech.say(samples(10), "b", 7);
    speech.say(samples(10), "c", 100);
    expect(said(speech)).toEqual([
      ["a", 5, 10],
      ["b", 15, 10],
      ["c", 100, 10],
    ]);
  });

  it("stops what is interrupted, and what follows comes earlier", () => {
    const speech = new Speech();
    for (const name of ["a", "b", "b", "c"]) speech.say(samples(10), name, 0);
    speech.interrupt("b", 14);
    expect(said(speech)).toEqual([
      ["a", 0, 10],
      ["b", 10, 4],
      ["c", 14, 10],
    ]);
    speech.interrupt("a", 16);
    expect(said(speech)).toEqual([
      ["a", 0, 10],
      ["b", 10, 4],
      ["c", 14, 10],
    ]);
  });

  it("that goes on stays where it is when something later is interrupted", () => {
    const speech = new Speech();
    for (const name of ["a", "b", "c"]) speech.say(samples(10), name, 0);
    speech.interrupt("b", 5);
    expect(said(speech)).toEqual([
      ["a", 0, 10],
      ["c", 10, 10],
    ]);
  });

  it("is silent after clear, and keeps what was heard", () => {
    const speech = new Speech();
    speech.say(samples(10), undefined, 0);
    speech.say(samples(10), undefined, 0);
    speech.clear(4);
    expect(said(speech)).toEqual([[undefined, 0, 4]]);
  });

  it("never overlaps, whatever is said, interrupted and cleared", () => {
    const act = fc.record({
      what: fc.constantFrom("say", "interrupt", "clear"),
      name: fc.constantFrom("a", "b", "c"),
      size: fc.nat(20),
      later: fc.nat(15),
    });
    fc.assert(
      fc.property(fc.array(act), (acts) => {
        const speech = new Speech();
        let now = 0;
        for (const { what, name, size, later } of acts) {
          now += later;
          if (what === "say") speech.say(samples(size), name, now);
          else if (what === "interrupt") speech.interrupt(name, now);
          else speech.clear(now);
        }
        let free = 0;
        for (const piece of speech.pieces) {
          expect(piece.from).toBeGreaterThanOrEqual(free);
          free = piece.from + piece.samples.length;
        }
      }),
    );
  });

  it("beyond ten minutes is not kept", () => {
    const speech = new Speech();
    for (let minute = 0; minute < 12; minute++) speech.say(samples(60 * 8_000), minute, 0);
    expect(speech.pieces).toHaveLength(10);
  });
});

describe("a recording", () => {
  it("is the same in one piece or in many, and never out of range", () => {
    const recording = new Recording();
    recording.sound(440, 1, 30);
    recording.sound(350, 10, 20);
    recording.speech.say(new Int16Array(100).fill(32_767), "a", 40);
    recording.speech.say(new Int16Array(100).fill(-32_768), "a", 40);
    const whole = recording.mix(0, 300);
    fc.assert(
      fc.property(fc.nat(299), fc.nat(300), (first, count) => {
        expect(recording.mix(first, count)).toEqual(
          new Int16Array([
            ...whole.slice(first, first + count),
            ...new Int16Array(Math.max(0, first + count - 300)),
          ]),
        );
      }),
    );
    expect(Math.max(...whole)).toBe(32_767);
    expect(sampleAt(1_000)).toBe(8_000);
  });
});

describe("the head of a WAV", () => {
  it("says how long it is", () => {
    expect(wavSeconds(wavHead(12_000, 8_000))).toBe(1.5);
  });

  it("is found after other chunks, odd ones too", () => {
    const head = wavHead(8_000, 8_000);
    const odd = new Uint8Array([...new TextEncoder().encode("LIST"), 3, 0, 0, 0, 1, 2, 3, 0]);
    expect(wavSeconds(new Uint8Array([...head.slice(0, 36), ...odd, ...head.slice(36)]))).toBe(1);
  });

  it("leaves it to the file's size where the writer could not say", () => {
    const head = wavHead(0, 8_000);
    expect(wavSeconds(head, 44 + 16_000)).toBe(1);
    expect(wavSeconds(head)).toBeUndefined();
  });

  it("is no other file, and nothing makes it fail or say nonsense", () => {
    expect(wavSeconds(new TextEncoder().encode("OggS0000WAVEfmt "))).toBeUndefined();
    const letters = new TextEncoder().encode("RIFF\0\0\0\0WAVE");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.boolean(), (bytes, isWav) => {
        const seconds = wavSeconds(isWav ? new Uint8Array([...letters, ...bytes]) : bytes, 100);
        expect(seconds === undefined || (Number.isFinite(seconds) && seconds >= 0)).toBe(true);
      }),
    );
  });
});
