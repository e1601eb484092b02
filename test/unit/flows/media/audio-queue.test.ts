import { expect, test } from "vitest";
import { AudioQueue } from "../../../../src/flows/media/audio-queue.ts";

test("small pieces of one thing become few, and every byte stays where it was", () => {
  const queue = new AudioQueue<string>();
  const bytes = Uint8Array.from({ length: 200_000 }, (_, at) => (at * 31) % 256);
  for (let at = 0; at < bytes.length; at += 2) queue.push(bytes.subarray(at, at + 2), "a");
  expect(queue.blocks).toBeLessThan(8);
  const taken: number[] = [];
  for (let part = queue.take(777); part; part = queue.take(777)) taken.push(...part.bytes);
  expect(Uint8Array.from(taken)).toEqual(bytes);
  expect([queue.length, queue.blocks]).toEqual([0, 0]);
});

test("things that differ stay apart, and what was given isn't written on", () => {
  const queue = new AudioQueue<string>();
  const given = Uint8Array.from([1, 2, 3, 4]);
  queue.push(given.subarray(0, 2), "a");
  queue.push(Uint8Array.from([9, 9]), "a");
  queue.push(Uint8Array.from([5]), "b");
  queue.push(Uint8Array.from([6]), "c");
  expect(given).toEqual(Uint8Array.from([1, 2, 3, 4]));
  expect(queue.take(3)?.bytes).toEqual(Uint8Array.from([1, 2, 9]));
  queue.push(Uint8Array.from([7]), "c");
  const rest = [queue.take(9), queue.take(9), queue.take(9), queue.take(9)];
  expect(rest.map((part) => part && [part.tag, ...part.bytes])).toEqual([
    ["a", 9],
    ["b", 5],
    ["c", 6, 7],
    undefined,
  ]);
});
