import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PlayerOptions } from "../../../../src/agents/player/mouth.ts";
import { Player } from "../../../../src/agents/player/player.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const bytesPerMs = 16;
/** So many milliseconds of speech. */
const speech = (ms: number) => new Uint8Array(ms * bytesPerMs).fill(77);
const silence = (ms: number) => new Uint8Array(ms * bytesPerMs);

/** A player at 8 kHz, and what it does, with the moment. */
const playing = (options: Partial<PlayerOptions> = {}) => {
  const from = performance.now();
  const done: (readonly [at: number, what: string, ms?: number])[] = [];
  const late: number[] = [];
  const mouth = {
    buffered: 0,
    audio: ({ length }: Uint8Array) => done.push([performance.now() - from, "audio", length / 16]),
    clear: () => done.push([performance.now() - from, "clear"]),
  };
  const player = new Player(mouth, {
    sample_rate: 8_000,
    chunk_size: 500,
    continuous: false,
    onSent: (ms) => ms > 0 && late.push(ms),
    ...options,
  });
  return { player, done, late, mouth };
};

test("a long answer is sent in messages of 500 ms, at most a second ahead of what is heard", () => {
  const { player, done } = playing();
  player.say(speech(3_000), "a", "t");
  player.done("t");
  vi.advanceTimersByTime(10_000);
  expect(done).toEqual([0, 0, 500, 1_000, 1_500, 2_000].map((at) => [at, "audio", 500]));
});

test("the beginning of an answer waits 60 ms for more, and no longer", () => {
  const { player, done } = playing();
  player.say(speech(100), "a", "t");
  vi.advanceTimersByTime(59);
  expect(done).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(done).toEqual([[60, "audio", 100]]);
});

test("what comes in small pieces is sent in larger ones, without a gap", () => {
  const { player, done, late } = playing();
  for (let at = 0; at < 100; at++) {
    player.say(speech(20), "a", "t");
    vi.advanceTimersByTime(10); // Twice as fast as it is spoken.
  }
  player.done("t");
  vi.advanceTimersByTime(5_000);
  expect(late).toEqual([]);
  expect(done.reduce((sum, [, , ms = 0]) => sum + ms, 0)).toBe(2_000);
  expect(done.length).toBeLessThan(10);
});

test("a pause within an answer is told as late, and one between answers isn't", () => {
  const { player, late } = playing();
  player.say(speech(100), "a", "t");
  vi.advanceTimersByTime(60 + 100 + 40);
  player.say(speech(500), "a", "t");
  player.done("t");
  expect(late).toEqual([40]);
  vi.advanceTimersByTime(5_000);
  player.say(speech(500), "b", "u");
  expect(late).toEqual([40]);
});

test("cut off, it says what was heard of each item: never more than was sent", () => {
  const { player, done } = playing();
  player.say(speech(400), "a", "t");
  player.say(speech(900), "b", "t");
  player.say(speech(300), "c", "t");
  vi.advanceTimersByTime(650);
  expect(player.clear()).toEqual([
    { item: "b", heard: 250, of: 900 },
    { item: "c", heard: 0, of: 300 },
  ]);
  expect(done.at(-1)).toEqual([650, "clear"]);
  vi.advanceTimersByTime(10_000);
  expect(done.at(-1)).toEqual([650, "clear"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("what was heard is known to the millisecond, whenever it is cut off", () => {
  for (let at = 1; at < 1_500; at += 37) {
    const { player } = playing();
    player.say(speech(1_200), "a", "t");
    vi.advanceTimersByTime(at);
    const [cut] = player.clear();
    expect(cut?.heard).toBe(Math.min(at, 1_200));
  }
});

test("what comes of an answer after it was cut off is dropped, every byte", () => {
  const { player, done } = playing();
  player.say(speech(600), "a", "t");
  vi.advanceTimersByTime(100);
  player.clear();
  const before = done.length;
  expect(player.say(speech(400), "a", "t")).toBe(400);
  expect(player.say(speech(400), "b", "t")).toBe(400);
  vi.advanceTimersByTime(5_000);
  expect(done).toHaveLength(before);
  expect(player.say(speech(500), "c", "u")).toBe(0);
  expect(done).toHaveLength(before + 1);
});

test("of what waited when it was cut off nothing comes with the next answer", () => {
  const { player, mouth } = playing();
  const said = vi.spyOn(mouth, "audio");
  player.say(speech(2_000), "a", "t");
  vi.advanceTimersByTime(100);
  player.clear();
  said.mockClear();
  player.say(speech(800).fill(5), "b", "u");
  player.done("u");
  vi.advanceTimersByTime(5_000);
  const bytes = said.mock.calls.flatMap(([message]) => [...message]);
  expect([bytes.length / bytesPerMs, new Set(bytes)]).toEqual([800, new Set([5])]);
});

test("an answer that has no audio yet is cut off as well", () => {
  const { player, done } = playing();
  player.begin("t");
  expect(player.clear()).toEqual([]);
  expect(player.say(speech(500), "a", "t")).toBe(500);
  vi.advanceTimersByTime(5_000);
  expect(done).toEqual([]); // Nor is a line cleared on which nothing was said.
});

test("an answer that was heard whole isn't cut off, and one that may go on is", () => {
  const { player } = playing();
  player.say(speech(500), "a", "t");
  vi.advanceTimersByTime(600);
  expect(player.clear()).toEqual([{ item: "a", heard: 500, of: 500 }]);
  player.say(speech(500), "b", "u");
  player.done("u");
  vi.advanceTimersByTime(600);
  expect(player.clear()).toEqual([]);
});

test("a full network is waited for", () => {
  const { player, done, mouth } = playing();
  mouth.buffered = 65_537;
  player.say(speech(500), "a", "t");
  vi.advanceTimersByTime(1_000);
  expect(done).toEqual([]);
  mouth.buffered = 0;
  vi.advanceTimersByTime(20);
  expect(done).toEqual([[1_020, "audio", 500]]);
});

test("what waits in our own socket is cleared, and counts as unheard", () => {
  const { player, done, mouth } = playing();
  player.say(speech(1_500), "a", "t");
  player.done("t");
  vi.advanceTimersByTime(5_000); // All of it is over by the clock; a second of it stands still.
  mouth.buffered = (1_000 * 16 * 4) / 3;
  expect(player.clear()).toEqual([{ item: "a", heard: 500, of: 1_500 }]);
  expect(done.at(-1)).toEqual([5_000, "clear"]);
});

test("what never left our own socket was never heard, however long it is", () => {
  const { player, mouth } = playing();
  mouth.buffered = (2_500 * 16 * 4) / 3;
  player.say(speech(2_500), "a", "t");
  vi.advanceTimersByTime(5_000);
  expect(player.clear()).toEqual([{ item: "a", heard: 0, of: 2_500 }]);
});

test("nothing is drained while it waits in our own socket", async () => {
  const { player, mouth } = playing();
  const heard = vi.fn();
  player.say(speech(500), "a", "t");
  player.done("t");
  mouth.buffered = (500 * 16 * 4) / 3;
  player.drained().then(heard);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(heard).not.toHaveBeenCalled();
  mouth.buffered = 0;
  await vi.advanceTimersByTimeAsync(750);
  expect(heard).toHaveBeenCalledOnce();
});

test("a voice that never stops is said as it comes, and a backlog loses its silence only", () => {
  const { player, done } = playing({ continuous: true });
  let [said, dropped] = [0, 0];
  const say = (bytes: Uint8Array<ArrayBuffer>) => {
    said += bytes.length / 16;
    dropped += player.say(bytes);
  };
  say(speech(1_000)); // A network that had stopped, and comes again.
  for (let at = 0; at < 50; at++) {
    say(at % 2 ? speech(40) : silence(40));
    vi.advanceTimersByTime(40);
  }
  vi.advanceTimersByTime(2_000);
  const sent = done.reduce((sum, [, , ms = 0]) => sum + ms, 0);
  expect(sent).toBe(said - dropped);
  expect(dropped).toBeGreaterThanOrEqual(700);
  expect(dropped % 20).toBe(0);
});

test("a flood is bounded: what can't be heard within five minutes is dropped", () => {
  const { player } = playing();
  let dropped = 0;
  for (let at = 0; at < 600; at++) dropped += player.say(speech(1_000), "a", "t");
  expect(dropped).toBeGreaterThan(290_000);
  player.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test("drained tells that all was heard, and not before the answer has come", async () => {
  const { player } = playing();
  const heard = vi.fn();
  player.say(speech(500), "a", "t");
  player.drained().then(heard);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(heard).not.toHaveBeenCalled();
  player.say(speech(500), "a", "t");
  player.done("t");
  await vi.advanceTimersByTimeAsync(500 + 249); // The service is behind our clock.
  expect(heard).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2);
  expect(heard).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

test("a voice that never stops has been heard when it is silent", async () => {
  const { player } = playing({ continuous: true });
  const heard = vi.fn();
  player.say(speech(400));
  player.drained().then(heard);
  for (let at = 0; at < 700; at += 40) {
    player.say(silence(40));
    await vi.advanceTimersByTimeAsync(40);
  }
  expect(heard).toHaveBeenCalledOnce();
});

test("a long call keeps nothing of what was heard", () => {
  const { player } = playing();
  for (let turn = 0; turn < 2_000; turn++) {
    player.say(speech(500), `item ${turn}`, `turn ${turn}`);
    player.done(`turn ${turn}`);
    vi.advanceTimersByTime(700);
  }
  player.say(speech(500), "last", "last");
  expect(player.clear()).toEqual([{ item: "last", heard: 0, of: 500 }]);
});
