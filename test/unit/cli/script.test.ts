import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { readScript } from "../../../src/cli/script.ts";

const scriptOf = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "script-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "survey.mjs");
  writeFileSync(file, text);
  return file;
};

test("a script that never loads is given up after 10 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const loading = readScript(scriptOf("await new Promise(() => {});"));
  await vi.waitUntil(() => vi.getTimerCount() > 0);
  vi.advanceTimersByTime(10_000);
  await expect(loading).rejects.toThrow("--script was not loaded within 10 s");
});
