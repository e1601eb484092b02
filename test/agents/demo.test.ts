import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

test("npm run demo:agent prints an interrupted call and its metrics, and writes both voices", async () => {
  const { stdout, stderr } = await execute(process.execPath, [path("examples/demo-agent/demo.js")]);
  expect(stderr).toBe("");
  const lines = [...stdout.matchAll(/^ *\d+ ms {2}(\w+) +(.*)$/gm)].map((line) => line.slice(1, 3));
  for (const part of [
    ["client", /^accepted: cs_/],
    ["callee", /^answers, and listens$/],
    ["callee", /^interrupts, \d+ ms after the answer$/],
    ["application", /^interrupted: \d+ ms were not played$/],
    ["callee", /^hangs up$/],
    ["menu", /^hears the keys 2#$/],
    ["voicemail", /^has greeted and beeped, and records$/],
    ["application", /^the session has ended: message_left$/],
    ["application", /^decides: dial to billing$/],
    ["application", /^the session has ended: transferred$/],
    ["application", /^asks a quiet callee$/],
    ["application", /^the session has ended: gave_up$/],
  ] as const) {
    expect(lines).toContainEqual([part[0], expect.stringMatching(part[1])]);
  }
  expect(stdout).toMatch(/^from the answer to the first audio +[\d.]+ ms$/m);
  expect(stdout).toMatch(/^stop: until the interrupted agent is silent +[\d.]+ ms$/m);
  expect(stdout).toMatch(/^response: from the callee.s last word +[\d.]+ ms$/m);
  expect(stdout).toMatch(/^from the interruption to the clear message +[\d.]+ ms$/m);
  const [, file = ""] = /: (\S+\.wav)$/m.exec(stdout) ?? [];
  const wav = readFileSync(file);
  expect([wav.toString("latin1", 0, 4), wav.readUInt16LE(22), wav.readUInt32LE(24)]).toEqual([
    "RIFF",
    2,
    16_000,
  ]);
  const samples = new Int16Array(
    wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length),
  );
  for (const side of [0, 1]) {
    expect(samples.some((sample, at) => at % 2 === side && Math.abs(sample) > 1_000)).toBe(true);
  }
});
