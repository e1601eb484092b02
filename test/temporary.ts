import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Gives a run of vitest a temporary folder of its own, so that nothing that a test makes there stays. Its hundreds of
 * Node processes keep there what they compile, each for the next one.
 */
export const setup = (): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-tests-"));
  process.env.TMPDIR = folder;
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
};
