import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readWav, wavHead, wavSeconds } from "../../../../src/emulator/recording/wav.ts";
import { bytesOf } from "../../../../src/lib/encoding.ts";

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

describe("the samples of a WAV", () => {
  const fileOf = (samples: Int16Array, channels: 1 | 2 = 1) =>
    new Uint8Array([...wavHead(samples.length / channels, 8_000, channels), ...bytesOf(samples)]);

  it("are those that were written, of its first channel", () => {
    fc.assert(
      fc.property(fc.int16Array(), (each) => {
        const samples = new Int16Array(each);
        expect(readWav(fileOf(samples))).toEqual({ samples, sampleRate: 8_000 });
      }),
    );
    const stereo = readWav(fileOf(new Int16Array([1, -1, 2, -2]), 2));
    expect(stereo.samples).toEqual(new Int16Array([1, 2]));
  });

  it("are refused where some of them are missing", () => {
    const file = fileOf(new Int16Array([1, 2, 3]));
    expect(() => readWav(file.slice(0, -1))).toThrow("is cut off");
  });

  it("end where the file does if its writer could not say", () => {
    const file = new Uint8Array([...wavHead(0, 8_000), ...bytesOf(new Int16Array([1, 2]))]);
    expect(readWav(file).samples).toEqual(new Int16Array([1, 2]));
  });

  it("are found nowhere else", () => {
    const floating = fileOf(new Int16Array(4));
    floating[20] = 3;
    for (const bytes of [new Uint8Array(), new Uint8Array(60), floating]) {
      expect(() => readWav(bytes)).toThrow("must be a WAV of 16-bit PCM");
    }
    const letters = new TextEncoder().encode("RIFF\0\0\0\0WAVE");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const file = new Uint8Array([...letters, ...bytes]);
        try {
          expect(readWav(file).samples.length).toBeLessThanOrEqual(40);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
      }),
    );
  });
});
