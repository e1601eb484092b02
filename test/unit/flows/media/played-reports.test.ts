import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Playback } from "../../../../src/flows/media/playback.ts";
import { streamOf } from "../../../../src/flows/media/session.ts";
import { start } from "./start.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** So many milliseconds of speech. */
const speech = (ms: number) => new Uint8Array(ms * 16).fill(77);

/** A playback at 8 kHz to a service that says what it has played when the test says so. */
const playing = (beginning: object = { ...start, messages: ["played"] }) => {
  const sent: string[] = [];
  const others: unknown[] = [];
  const errors: unknown[] = [];
  const socket = Object.assign(new EventTarget(), {
    readyState: 1,
    send: (text: string) => {
      const { type, chunk_id = "" } = JSON.parse(text);
      sent.push(`${type} ${chunk_id}`.trim());
    },
    close: () => {},
  });
  const say = (message: object) =>
    void socket.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(message) }));
  const handlers = {
    onMessage: (message: unknown) => others.push(message),
    onError: (error: unknown) => errors.push(error),
  };
  const stream = streamOf(socket, handlers, {}, () => {});
  say(beginning);
  const options = { sampleRate: 8_000, chunkSize: 500, isContinuous: false, onSent: () => {} };
  const player = new Playback(stream, options);
  const played = (ms: unknown) =>
    say({ type: "played", stream_id: "st_1", message_id: 2, data: { ms } });
  return { player, sent, others, errors, played };
};

const after = (ms: number) => vi.advanceTimersByTime(ms);

test("reports are requested where start names them, and nowhere else", () => {
  for (const messages of [undefined, 7, null, [], ["other"]]) {
    const { player, sent, others, errors, played } = playing({ ...start, messages });
    player.play(speech(500), "a", "t");
    played(100);
    after(320);
    expect([sent, others.length, errors]).toEqual([["audio 1"], 1, []]);
    expect(player.clear()).toEqual([{ item: "a", played: 320, duration: 500 }]);
  }
  const { sent, others } = playing();
  expect([sent, others]).toEqual([["played"], []]);
});

test("what a stalled service delays doesn't count as played once it plays on", () => {
  const { player, played } = playing();
  player.play(speech(2_000), "a", "t");
  played(0);
  after(600);
  // It has played nothing for 400 ms.
  played(200);
  after(100);
  expect(player.clear()).toEqual([{ item: "a", played: 300, duration: 2_000 }]);
});

test("it stays so for the messages that follow, until the line was idle", () => {
  const { player, played } = playing();
  player.play(speech(1_000), "a", "t");
  player.end("t");
  played(0);
  after(600);
  played(200);
  after(300);
  played(500);
  after(500);
  played(1_000);
  player.play(speech(500), "b", "u");
  after(30);
  played(1_000);
  after(100);
  expect(player.clear()).toEqual([{ item: "b", played: 130, duration: 500 }]);
});

test("the delay of the network, both ways, isn't a stall", () => {
  const { player, played } = playing();
  player.play(speech(2_000), "a", "t");
  after(80);
  played(0);
  after(500);
  played(500);
  after(100);
  // A clear that is sent now finds the service at the same place, since it was sent that much later.
  expect(player.clear()).toEqual([{ item: "a", played: 680, duration: 2_000 }]);
});

test("who has left has heard nothing of what was under way, and of whose report", () => {
  const { player, played } = playing();
  player.play(speech(2_000), "a", "t");
  after(80);
  played(0);
  after(200);
  expect(player.stop(true)).toEqual([{ item: "a", played: 200, duration: 2_000 }]);
});

test("all was heard when the end of the last message is reported, not before", () => {
  const { player, played } = playing();
  player.play(speech(500), "a", "t");
  player.end("t");
  played(0);
  after(900);
  expect(player.heardAt(0)).toBe(Number.POSITIVE_INFINITY);
  played(500);
  expect(player.heardAt(0)).toBe(900);
});

test("where nothing is reported, all was heard so long after it should have been played", () => {
  const { player } = playing(start);
  player.play(speech(500), "a", "t");
  player.end("t");
  expect(player.heardAt(600)).toBe(1_100);
});

test("what is reported of audio before it was cleared is soon made up for, and a report without a number is nothing", () => {
  const { player, played, errors } = playing();
  player.play(speech(500), "a", "t");
  after(20);
  played(0);
  after(200);
  player.clear();
  player.play(speech(500), "b", "u");
  // Both were under way.
  played(100);
  played(500);
  after(20);
  played(500);
  after(100);
  played("x");
  expect(errors).toEqual([]);
  played(620);
  expect(player.clear()).toEqual([{ item: "b", played: 120, duration: 500 }]);
});
