import { tmpdir } from "node:os";
import type { TestProject } from "vitest/node";
import { type Asterisk, type Installed, speechOf, startAsterisk } from "./asterisk/asterisk.ts";

/** The Asterisk of a run, and what speaks. */
export interface ProvidedExchange {
  readonly asterisk: Pick<Asterisk, "url" | "user" | "password" | "channelLog">;
  readonly installed: Installed;
  readonly speech: ReturnType<typeof speechOf>;
}

declare module "vitest" {
  interface ProvidedContext {
    exchange: ProvidedExchange;
  }
}

/** Starts Asterisk for all files of a run. */
export const setup = async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const { OUTDIAL_ASTERISK: root } = process.env;
  if (!root) throw new Error("npm run exchange says where Asterisk is");
  const installed = { root, temporary: tmpdir() };
  const { stop, url, user, password, channelLog } = await startAsterisk(installed);
  const asterisk = { url, user, password, channelLog };
  provide("exchange", { asterisk, installed, speech: speechOf(root) });
  return stop;
};
