import { UsageError } from "../../command.ts";
import type { DialValues } from "../options.ts";

/** @throws {UsageError} for options that need --emulate, or that it has no use for */
export const checkEmulation = (flags: DialValues): void => {
  const { emulate, callees, seed, script, flow } = flags;
  if (!emulate && (callees ?? seed) !== undefined) {
    throw new UsageError("--callees and --seed need --emulate");
  }
  if (!emulate) return;
  if (seed !== undefined && callees === undefined) throw new UsageError("--seed needs --callees");
  if (flags["dry-run"]) throw new UsageError("--emulate prints the plan, too: drop --dry-run");
  if (script !== undefined && flow !== undefined) {
    throw new UsageError("pass either --flow or --script: what does an answered call do?");
  }
};
