import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gives a run of vitest a temporary folder of its own, so that nothing that a test makes there stays. */
export const setup = (): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-tests-"));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
};
