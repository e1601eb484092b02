import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Playback, type PlaybackOptions } from "../../../../src/flows/media/playback.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const bytesPerMs = 16;
/** So many milliseconds of speech. */
const speech = (ms: number) => new Uint8Array(ms * bytesPerMs).fill(77);

/** A player at 8 kHz, and what it does, with the moment. */
const playing = (options: Partial<PlaybackOptions> = {}) => {
  const from = performance.now();
  const done: (readonly [at: number, what: string, ms?: number])[] = [];
  const late: number[] = [];
  const mouth = { buffered: 0 };
  const line = {
    buffered: () => mouth.buffered,
    sendAudio: ({ length }: Uint8Array) =>
      String(done.push([performance.now() - from, "audio", length / 16])),
    send: () => done.push([performance.now() - from, "clear"]),
  };
  const player = new Playback(line, {
    sampleRate: 8_000,
    chunkSize: 500,
    isContinuous: false,
    onSent: (ms) => ms > 0 && late.push(ms),
    ...options,
  });
  return { player, done, late, mouth, line };
};

test("a long answer is sent in messages of 500 ms, at most a second ahead of what is heard", () => {
  const { player, done } = playing();
  player.play(speech(3_000), "a", "t");
  player.end("t");
  vi.advanceTimersByTime(10_000);
  expect(done).toEqual([0, 0, 500, 1_000, 1_500, 2_000].map((at) => [at, "audio", 500]));
});

test("the first audio is sent at once; more of it waits up to 60 ms while there is a reserve", () => {
  const { player, done } = playing();
  player.play(speech(200), "a", "t");
  expect(done).toEqual([[0, "audio", 200]]);
  vi.advanceTimersByTime(10);
  player.play(speech(20), "a", "t");
  vi.advanceTimersByTime(89);
  expect(done).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(done[1]).toEqual([100, "audio", 20]);
});

test("what comes in small pieces is sent in larger ones, without a gap", () => {
  const { player, done, late } = playing();
  for (let at = 0; at < 100; at++) {
    player.play(speech(20), "a", "t");
    vi.advanceTimersByTime(10); // Twice as fast as it is spoken.
  }
  player.end("t");
  vi.advanceTimersByTime(5_000);
  expect(late).toEqual([]);
  expect(done.reduce((sum, [, , ms = 0]) => sum + ms, 0)).toBe(2_000);
  expect(done.length).toBeLessThan(20);
});

test("a pause within an answer is reported as late, and one between answers isn't", () => {
  const { player, late } = playing();
  player.play(speech(100), "a", "t");
  vi.advanceTimersByTime(100 + 40);
  player.play(speech(500), "a", "t");
  player.end("t");
  expect(late).toEqual([40]);
  vi.advanceTimersByTime(5_000);
  player.play(speech(500), "b", "u");
  expect(late).toEqual([40]);
});

test("cut off, it says what was heard of each item: never more than was sent", () => {
  const { player, done } = playing();
  player.play(speech(400), "a", "t");
  player.play(speech(900), "b", "t");
  player.play(speech(300), "c", "t");
  vi.advanceTimersByTime(650);
  expect(player.clear()).toEqual([
    { item: "b", played: 250, duration: 900 },
    { item: "c", played: 0, duration: 300 },
  ]);
  expect(done.at(-1)).toEqual([650, "clear"]);
  vi.advanceTimersByTime(10_000);
  expect(done.at(-1)).toEqual([650, "clear"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("what was heard is known to the millisecond, whenever it is cut off", () => {
  for (let at = 1; at < 1_500; at += 37) {
    const { player } = playing();
    player.play(speech(1_200), "a", "t");
    vi.advanceTimersByTime(at);
    const [cut] = player.clear();
    expect(cut?.played).toBe(Math.min(at, 1_200));
  }
});

test("what comes of an answer after it was cut off is dropped, every byte", () => {
  const { player, done } = playing();
  player.play(speech(600), "a", "t");
  vi.advanceTimersByTime(100);
  player.clear();
  const before = done.length;
  expect(player.play(speech(400), "a", "t")).toBe(400);
  expect(player.play(speech(400), "b", "t")).toBe(400);
  vi.advanceTimersByTime(5_000);
  expect(done).toHaveLength(before);
  expect(player.play(speech(500), "c", "u")).toBe(0);
  expect(done).toHaveLength(before + 1);
});

test("of what waited when it was cut off nothing comes with the next answer", () => {
  const { player, line } = playing();
  const said = vi.spyOn(line, "sendAudio");
  player.play(speech(2_000), "a", "t");
  vi.advanceTimersByTime(100);
  player.clear();
  said.mockClear();
  player.play(speech(800).fill(5), "b", "u");
  player.end("u");
  vi.advanceTimersByTime(5_000);
  const bytes = said.mock.calls.flatMap(([message]) => [...message]);
  expect([bytes.length / bytesPerMs, new Set(bytes)]).toEqual([800, new Set([5])]);
});

test("an answer that has no audio yet is cut off as well", () => {
  const { player, done } = playing();
  player.begin("t");
  expect(player.clear()).toEqual([]);
  expect(player.play(speech(500), "a", "t")).toBe(500);
  vi.advanceTimersByTime(5_000);
  expect(done).toEqual([]); // Nor is a line cleared on which nothing was said.
});

test("an answer that was heard whole isn't cut off, and one that may go on is", () => {
  const { player } = playing();
  player.play(speech(500), "a", "t");
  vi.advanceTimersByTime(600);
  expect(player.clear()).toEqual([{ item: "a", played: 500, duration: 500 }]);
  player.play(speech(500), "b", "u");
  player.end("u");
  vi.advanceTimersByTime(600);
  expect(player.clear()).toEqual([]);
});

test("items that are interleaved in an answer are cut off each where it was heard", () => {
  const { player } = playing();
  for (let at = 0; at < 3; at++) {
    player.play(speech(200), "a", "t");
    player.play(speech(100), "b", "t");
  }
  vi.advanceTimersByTime(650);
  expect(player.clear()).toEqual([
    { item: "a", played: 450, duration: 600 },
    { item: "b", played: 200, duration: 300 },
  ]);
});

test("an item that was heard and goes on after another is known from its beginning", () => {
  const { player } = playing();
  player.play(speech(500), "a", "t");
  vi.advanceTimersByTime(600);
  player.play(speech(500), "b", "t");
  vi.advanceTimersByTime(600);
  player.play(speech(500), "a", "t");
  vi.advanceTimersByTime(100);
  expect(player.clear()).toEqual([
    { item: "a", played: 600, duration: 1_000 },
    { item: "b", played: 500, duration: 500 },
  ]);
});

test("an interleaved item that may go on is cut off although all of it so far was heard", () => {
  const { player } = playing();
  for (const [ms, item] of [
    [100, "a"],
    [100, "b"],
    [100, "a"],
    [500, "b"],
  ] as const) {
    player.play(speech(ms), item, "t");
  }
  vi.advanceTimersByTime(350);
  expect(player.clear()).toEqual([
    { item: "a", played: 200, duration: 200 },
    { item: "b", played: 150, duration: 600 },
  ]);
});

test("a full network is waited for", () => {
  const { player, done, mouth } = playing();
  mouth.buffered = 65_537;
  player.play(speech(500), "a", "t");
  vi.advanceTimersByTime(1_000);
  expect(done).toEqual([]);
  mouth.buffered = 0;
  vi.advanceTimersByTime(20);
  expect(done).toEqual([[1_020, "audio", 500]]);
});

test("what waits in our own socket is cleared, and counts as unheard", () => {
  const { player, done, mouth } = playing();
  player.play(speech(1_500), "a", "t");
  player.end("t");
  vi.advanceTimersByTime(5_000); // All of it is over by the clock; a second of it stands still.
  mouth.buffered = (1_000 * 16 * 4) / 3;
  expect(player.clear()).toEqual([{ item: "a", played: 500, duration: 1_500 }]);
  expect(done.at(-1)).toEqual([5_000, "clear"]);
});

test("what never left our own socket was never heard, however long it is", () => {
  const { player, mouth } = playing();
  mouth.buffered = (2_500 * 16 * 4) / 3;
  player.play(speech(2_500), "a", "t");
  vi.advanceTimersByTime(5_000);
  expect(player.clear()).toEqual([{ item: "a", played: 0, duration: 2_500 }]);
});

test("what waits in our own socket was not heard", () => {
  const { player, mouth } = playing();
  player.play(speech(500), "a", "t");
  player.end("t");
  mouth.buffered = (500 * 16 * 4) / 3;
  vi.advanceTimersByTime(5_000);
  const left = () => player.heardAt(0) - performance.now();
  expect(left()).toBe(500);
  mouth.buffered = 0;
  vi.advanceTimersByTime(750);
  expect(left()).toBe(-250);
});

test("a flood is bounded: what can't be heard within five minutes is dropped", () => {
  const { player } = playing();
  let dropped = 0;
  for (let at = 0; at < 600; at++) dropped += player.play(speech(1_000), "a", "t");
  expect(dropped).toBeGreaterThan(290_000);
  player.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test("not all was heard before the response has ended; then it was, after the way of the line", () => {
  const { player } = playing();
  player.play(speech(500), "a", "t");
  vi.advanceTimersByTime(2_000);
  expect(player.heardAt(600)).toBe(Number.POSITIVE_INFINITY);
  player.play(speech(500), "a", "t");
  player.end("t");
  vi.advanceTimersByTime(200);
  expect(player.heardAt(600) - performance.now()).toBe(500 - 200 + 600);
  expect(vi.getTimerCount()).toBe(0);
});

test("a long call keeps nothing of what was heard", () => {
  const { player } = playing();
  for (let turn = 0; turn < 2_000; turn++) {
    player.play(speech(500), `item ${turn}`, `turn ${turn}`);
    player.end(`turn ${turn}`);
    vi.advanceTimersByTime(700);
  }
  player.play(speech(500), "last", "last");
  expect(player.clear()).toEqual([{ item: "last", played: 0, duration: 500 }]);
});
