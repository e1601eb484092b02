import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createOutput } from "../../../src/agents/responses.ts";
import { Playback } from "../../../src/flows/media/playback.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** So many milliseconds of audio. */
const speech = (ms: number) => new Uint8Array(ms * 16).fill(77);
const silence = (ms: number) => new Uint8Array(ms * 16);

/** Audio that never stops, into a playback at 8 kHz, and the messages that it sends. */
const continuous = () => {
  const sent: number[] = [];
  const line = {
    sendAudio: ({ length }: Uint8Array) => String(sent.push(length / 16)),
    send: () => {},
    buffered: () => 0,
  };
  const options = { sampleRate: 8_000, chunkSize: 500, isContinuous: true, onSent: () => {} };
  const playback = new Playback(line, options);
  const format = { encoding: "pcm", sampleRate: 8_000 } as const;
  return { playback, sent, player: createOutput(playback, format, format, true) };
};

test("audio that never stops is said as it comes, and a backlog loses its silence only", () => {
  const { player, sent } = continuous();
  let [said, dropped] = [0, 0];
  const say = (bytes: Uint8Array<ArrayBuffer>) => {
    said += bytes.length / 16;
    dropped += player.play(bytes);
  };
  say(speech(1_000)); // A network that had stopped, and comes again.
  for (let at = 0; at < 50; at++) {
    say(at % 2 ? speech(40) : silence(40));
    vi.advanceTimersByTime(40);
  }
  vi.advanceTimersByTime(2_000);
  expect(sent.reduce((sum, ms) => sum + ms, 0)).toBe(said - dropped);
  expect(dropped).toBeGreaterThanOrEqual(700);
  expect(dropped % 20).toBe(0);
});

test("audio that never stops has been heard when it is silent", async () => {
  const { player, playback } = continuous();
  player.play(speech(400));
  playback.isEnding = true;
  for (let at = 0; at < 700; at += 40) {
    player.play(silence(40));
    await vi.advanceTimersByTimeAsync(40);
  }
  expect(playback.heardAt(0)).toBeLessThan(performance.now());
});

test("half a sample at the end of an item isn't the beginning of the next one", async () => {
  const sent: Uint8Array[] = [];
  const line = {
    sendAudio: (bytes: Uint8Array) => String(sent.push(bytes)),
    send: () => {},
    buffered: () => 0,
  };
  const options = { sampleRate: 8_000, chunkSize: 500, isContinuous: false, onSent: () => {} };
  const format = { encoding: "pcm", sampleRate: 8_000 } as const;
  const player = createOutput(new Playback(line, options), format, format, false);
  const pcm = new Uint8Array(new Int16Array(800).fill(5).buffer);
  player.play(pcm.slice(0, -1), "1");
  player.play(pcm, "2");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(new Int16Array(Uint8Array.from(Buffer.concat(sent)).buffer)).toEqual(
    new Int16Array(1_599).fill(5),
  );
});
