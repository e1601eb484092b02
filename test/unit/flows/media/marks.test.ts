import { assert, integer, property, record } from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Marks } from "../../../../src/flows/media/marks.ts";
import { Playback } from "../../../../src/flows/media/playback.ts";
import { processClock } from "../../../../src/lib/clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** So many milliseconds of speech. */
const speech = (ms: number) => new Uint8Array(ms * 16).fill(77);

/** A playback at 8 kHz to a service whose marks come back when the test says so. */
const playing = (onProbe: (id: string) => void = () => {}) => {
  const asked: string[] = [];
  const sent: string[] = [];
  const marks = new Marks(
    (id) => (id.startsWith("probe") ? onProbe(id) : asked.push(id)),
    processClock,
  );
  const line = {
    sendAudio: ({ length }: Uint8Array) => {
      sent.push(`audio ${length / 16}`);
      return String(sent.length);
    },
    send: () => {
      sent.push("clear");
      marks.clear();
    },
    buffered: () => 0,
    acknowledged: marks,
  };
  const player = new Playback(line, {
    sampleRate: 8_000,
    chunkSize: 500,
    isContinuous: false,
    onSent: () => {},
  });
  /** The mark of the message with this number comes back, the first being 0. */
  const back = (message: number) => marks.played(asked[message] ?? "");
  return { player, marks, asked, sent, back };
};

test("each message is followed by a mark of its own", () => {
  const { player, asked } = playing();
  player.play(speech(1_000), "a", "t");
  expect(asked).toEqual(["1", "2"]);
});

test("the delay isn't measured behind audio, whose playing would count as delay", () => {
  const probes: string[] = [];
  const { player, back } = playing((id) => probes.push(id));
  player.play(speech(1_000), "a", "t");
  expect(probes).toEqual(["probe 1"]);
  back(0);
  expect(probes).toEqual(["probe 1"]);
  back(1);
  expect(probes).toEqual(["probe 1", "probe 2"]);
});

test("within a message the clock counts, from when it was sent to an idle line", () => {
  const { player } = playing();
  player.play(speech(1_000), "a", "t");
  vi.advanceTimersByTime(320);
  expect(player.clear()).toEqual([{ item: "a", played: 320, duration: 1_000 }]);
});

test("a mark that comes back late moves the clock: the next message began only then", () => {
  const { player, back } = playing();
  player.play(speech(1_000), "a", "t");
  vi.advanceTimersByTime(700);
  back(0);
  vi.advanceTimersByTime(120);
  expect(player.clear()).toEqual([{ item: "a", played: 620, duration: 1_000 }]);
});

test("a mark that comes back early moves it too", () => {
  const { player, back } = playing();
  player.play(speech(1_000), "a", "t");
  vi.advanceTimersByTime(400);
  back(0);
  vi.advanceTimersByTime(30);
  expect(player.clear()).toEqual([{ item: "a", played: 530, duration: 1_000 }]);
});

test("until its mark comes back, no more than a message counts as played", () => {
  const { player } = playing();
  player.play(speech(3_000), "a", "t");
  vi.advanceTimersByTime(10_000);
  expect(player.clear()).toEqual([{ item: "a", played: 500, duration: 3_000 }]);
});

test("a lost mark is made up for by a later one", () => {
  const { player, back } = playing();
  player.play(speech(3_000), "a", "t");
  vi.advanceTimersByTime(1_100);
  back(1);
  vi.advanceTimersByTime(50);
  expect(player.clear()).toEqual([{ item: "a", played: 1_050, duration: 3_000 }]);
});

test("marks out of order say what the last of them says", () => {
  const { player, back } = playing();
  player.play(speech(3_000), "a", "t");
  vi.advanceTimersByTime(1_010);
  back(1);
  vi.advanceTimersByTime(20);
  back(0);
  back(0);
  vi.advanceTimersByTime(20);
  expect(player.clear()).toEqual([{ item: "a", played: 1_040, duration: 3_000 }]);
});

test("marks that come back after a clear were not played, whatever they say", () => {
  const { player, sent, back } = playing();
  player.play(speech(2_000), "a", "t");
  vi.advanceTimersByTime(200);
  expect(player.clear()).toEqual([{ item: "a", played: 200, duration: 2_000 }]);
  player.play(speech(2_000), "b", "u");
  for (const message of [0, 1]) back(message);
  vi.advanceTimersByTime(100);
  expect(player.clear()).toEqual([{ item: "b", played: 100, duration: 2_000 }]);
  expect(sent.filter((each) => each === "clear")).toHaveLength(2);
});

test("a name that was never sent says nothing", () => {
  const { player, marks } = playing();
  player.play(speech(500), "a", "t");
  for (const name of ["", "0", "2", "MARKED"]) marks.played(name);
  vi.advanceTimersByTime(100);
  expect(player.clear()).toEqual([{ item: "a", played: 100, duration: 500 }]);
});

test("an item is played to its end when its last mark says so, and then it isn't cut off", () => {
  const { player, back } = playing();
  player.play(speech(400), "a", "t");
  player.end("t");
  vi.advanceTimersByTime(390); // The service is ahead of our clock.
  back(0);
  expect(player.clear()).toEqual([]);
});

test("a line that stands still is cleared however long ago it should have been silent", () => {
  const { player, sent } = playing();
  player.play(speech(500), "a", "t");
  player.end("t");
  vi.advanceTimersByTime(60_000);
  player.clear();
  expect(sent).toEqual(["audio 500", "clear"]);
});

test("all was heard when the last mark is back, whatever the way of another line", () => {
  const { player, back } = playing();
  player.play(speech(500), "a", "t");
  player.end("t");
  vi.advanceTimersByTime(20_000);
  expect(player.heardAt(600)).toBe(Number.POSITIVE_INFINITY);
  back(0);
  const now = performance.now();
  vi.advanceTimersByTime(100);
  expect(player.heardAt(600)).toBe(now);
  expect(vi.getTimerCount()).toBe(0);
});

test("a service that never sends a mark back costs a bounded memory", () => {
  const { player, marks } = playing();
  for (let turn = 0; turn < 1_500; turn++) {
    player.play(speech(500), `item ${turn}`, `turn ${turn}`);
    player.end(`turn ${turn}`);
    vi.advanceTimersByTime(500);
  }
  expect(player.clear()).toHaveLength(999);
  expect(marks.lastAt()).toBeLessThan(Number.POSITIVE_INFINITY);
});

test("a mark on an idle line measures the delay of the network, and the clock makes up for it", () => {
  const { player, marks, back } = playing((id) => setTimeout(() => marks.played(id), 120));
  vi.advanceTimersByTime(1_000);
  player.play(speech(3_000), "a", "t");
  vi.advanceTimersByTime(500 + 120); // 500 ms were played 60 ms ago; by the time of a clear it is 620.
  back(0);
  vi.advanceTimersByTime(50);
  expect(player.clear()).toEqual([{ item: "a", played: 670, duration: 3_000 }]);
});

test.each([
  ["the shortest counts", [300, 40, 90], 550],
  ["none counts as more than a second", [5_000], 1_500], // All that was sent.
])("of the delays that were measured %s", (_, delays, played) => {
  const wait = [...delays];
  const { player, marks, back } = playing((id) => setTimeout(() => marks.played(id), wait.shift()));
  for (const _ of delays) {
    vi.advanceTimersByTime(6_000);
    if (wait.length > 0) marks.use();
  }
  player.play(speech(3_000), "a", "t");
  vi.advanceTimersByTime(500);
  back(0);
  vi.advanceTimersByTime(10);
  expect(player.clear()[0]?.played).toBe(played);
});

test("whatever the delays and pauses are, what counts is what had been played when the clear came", () => {
  const line = record({
    /** One way. */
    latency: integer({ min: 0, max: 80 }),
    stall: integer({ min: 0, max: 2_000 }),
    stallAt: integer({ min: 0, max: 1_500 }),
    at: integer({ min: 1, max: 4_000 }),
  });
  assert(
    property(line, ({ latency, stall, stallAt, at }) => {
      vi.useFakeTimers();
      const { player, marks, sent } = playing((id) => {
        setTimeout(() => marks.played(id), 2 * latency);
      });
      vi.advanceTimersByTime(200);
      player.play(speech(3_000), "a", "t");
      let [heard, back] = [0, 0];
      const audible = () => sent.filter((each) => each !== "clear").length * 500;
      const pass = (now: number) => {
        const isStalled = now > stallAt && now <= stallAt + stall;
        if (now > latency && !isStalled && heard < audible()) heard++;
        if (heard !== (back + 1) * 500) return;
        const mark = String(++back);
        setTimeout(() => marks.played(mark), latency);
      };
      for (let now = 1; now <= at; now++) {
        vi.advanceTimersByTime(1);
        pass(now);
      }
      const played = player.clear()[0]?.played ?? 3_000;
      for (let now = at + 1; now <= at + latency; now++) pass(now);
      expect(played).toBeLessThanOrEqual(audible());
      // While a message stands still nothing tells: then it is at most the rest of that message.
      const hasStalled = stall > 0 && at + latency > stallAt;
      expect(played - heard).toBeLessThanOrEqual(hasStalled ? 502 + 2 * latency : 2);
      expect(played - heard).toBeGreaterThanOrEqual(hasStalled ? -2 * latency - 2 : -2);
      vi.useRealTimers();
    }),
  );
});
