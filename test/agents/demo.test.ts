import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

test("npm run demo:agent tells a call that is interrupted, its figures, and writes both voices", async () => {
  const { stdout, stderr } = await execute(process.execPath, [path("examples/demo-agent/demo.js")]);
  // On a machine that is busy the agent may be told a little less or more: how far, the bench measures.
  expect(stderr.replace("Missing: truncated where it was heard\n", "")).toBe("");
  const told = [...stdout.matchAll(/^ *\d+ ms {2}(\w+) +(.*)$/gm)].map((line) => line.slice(1, 3));
  for (const part of [
    ["client", /^accepted: cs_/],
    ["callee", /^answers, and listens$/],
    ["callee", /^interrupts, \d+ ms after the answer$/],
    ["application", /^silent: \d+ ms are not said any more$/],
    ["callee", /^hangs up$/],
  ] as const) {
    expect(told).toContainEqual([part[0], expect.stringMatching(part[1])]);
  }
  expect(stdout).toMatch(/^first word after the answer +[\d.]+ ms$/m);
  expect(stdout).toMatch(/^from the interruption's message to the clear +[\d.]+ ms$/m);
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
