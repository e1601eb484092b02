import { expect, test } from "vitest";
import { type AudioFormat, Converter } from "../../../../src/agents/audio/resample.ts";

const pcm = (sampleRate: number): AudioFormat => ({ encoding: "pcm", sampleRate });
const ulaw: AudioFormat = { encoding: "ulaw", sampleRate: 8_000 };
const bytes = Uint8Array.from({ length: 640 }, (_, at) => (at * 37) % 256);

test.each([pcm(8_000), ulaw])("audio of the same format stays as it is: %j", (format) => {
  expect(new Converter(format, format).push(bytes)).toEqual(bytes);
});

test("a piece may end within a sample, and begin anywhere in its buffer", () => {
  const whole = new Converter(pcm(8_000), ulaw).push(bytes);
  for (const cut of [1, 2, 3, 319, 639]) {
    const converter = new Converter(pcm(8_000), ulaw);
    const parts = [bytes.subarray(0, cut), bytes.subarray(cut)].map((part) => converter.push(part));
    expect(Uint8Array.from(parts.flatMap((part) => [...part]))).toEqual(whole);
  }
});

test("μ-law at 8 kHz becomes four times the bytes at 16 kHz, and back", () => {
  const loud = new Converter(ulaw, pcm(16_000)).push(bytes);
  expect(loud).toHaveLength(bytes.length * 4);
  expect(new Converter(pcm(16_000), ulaw).push(loud)).toHaveLength(bytes.length);
});

test("flush gives the end of what was said, and forgets it", () => {
  const converter = new Converter(pcm(24_000), pcm(16_000));
  const once = [...converter.push(bytes), ...converter.flush()];
  const again = [...converter.push(bytes), ...converter.flush()];
  expect(again).toEqual(once);
  expect(once.length).toBeGreaterThan((bytes.length * 2) / 3);
  expect(new Converter(pcm(8_000), ulaw).flush()).toHaveLength(0);
});
